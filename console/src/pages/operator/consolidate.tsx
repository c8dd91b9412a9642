// A consolidation is planned by a dry run; then exactly the moves that were shown are done.
import { Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { type Schemas, send } from '../../api/client';
import { asProblem, type Problem } from '../../api/problem';
import { useRead } from '../../api/use_read';
import { PageFrame, Section } from '../../parts/page_frame';
import { ShowAs } from '../../parts/show_as';
import { Refusal } from '../../parts/states';
import { useDeed } from '../../parts/use_deed';
import { FreedHosts, Moves } from './consolidations';

type Plan = Schemas['Consolidation'];
type Wish = Partial<Schemas['CreateConsolidation']>;

const path = '/v1/consolidations';
const command = 'consolidation create';

function usePlan() {
  return useMutation<Plan, Problem, Wish>({
    mutationFn: (body) => send<Plan>('POST', path, { body, query: { dryRun: true } }).catch((error: unknown) => Promise.reject(asProblem(error))),
  });
}

function Wishes({ wish, onWish }: { wish: Wish; onWish: (wish: Wish) => void }) {
  const zones = useRead('/v1/zones', { query: { limit: 200 } }, { kinds: ['zone'] });
  const number = (value: string | number) => (value === '' ? undefined : Number(value));
  return (
    <Group align="end" gap="sm">
      <Select label="Zone" placeholder="all, each separately" clearable data={(zones.data?.items ?? []).map(({ name }) => name)} value={wish.zone ?? null} onChange={(zone) => onWish({ ...wish, zone: zone ?? undefined })} />
      <NumberInput label="Moves at most" min={1} value={wish.maxMoves ?? ''} onChange={(value) => onWish({ ...wish, maxMoves: number(value) })} />
      <NumberInput label="Stopped at once, at most" min={1} value={wish.atOnce ?? ''} onChange={(value) => onWish({ ...wish, atOnce: number(value) })} />
    </Group>
  );
}

function Start({ plan, wish }: { plan: Plan; wish: Wish }) {
  const [, go] = useLocation();
  const deed = useDeed({
    kinds: ['consolidation'],
    done: 'The moves begin.',
    onDone: (answer) => go(`/consolidations/${(answer as Plan).id}`),
  });
  const body = { ...wish, moves: plan.moves.map(({ workload, to }) => ({ workload, to })) };
  if (plan.moves.length === 0) return <Text>No host becomes free by moving what may be moved.</Text>;
  return (
    <Stack>
      <Text>
        {plan.freedHosts.length} {plan.freedHosts.length === 1 ? 'host becomes' : 'hosts become'} free, with {plan.gpus} GPUs.{' '}
        {plan.restarts === 0 ? 'No instance is stopped for it.' : `${plan.restarts} instances are stopped and started again on another host, ${plan.atOnce} at once at most.`}
      </Text>
      {deed.error && <Refusal problem={deed.error} />}
      <Group><Button loading={deed.isPending} onClick={() => deed.mutate({ method: 'POST', path, call: { body } })}>Start these {plan.movesTotal} moves</Button></Group>
      <ShowAs command={command} method="POST" path={path} body={body} />
    </Stack>
  );
}

export default function ConsolidatePage() {
  const [wish, setWish] = useState<Wish>({});
  const plan = usePlan();
  const change = (next: Wish) => {
    plan.reset();
    setWish(next);
  };
  return (
    <PageFrame title="New consolidation" up={{ to: '/consolidations', label: 'Consolidations' }} lead="Workloads move so that whole hosts become free. The plan is shown first.">
      <Section title="Plan">
        <Stack>
          <Wishes wish={wish} onWish={change} />
          <Group><Button variant={plan.data ? 'default' : 'filled'} loading={plan.isPending} onClick={() => plan.mutate(wish)}>Plan</Button></Group>
          {plan.error && <Refusal problem={plan.error} />}
          {plan.data ? <Start plan={plan.data} wish={wish} /> : <ShowAs command={`${command} --dry-run`} method="POST" path={`${path}?dryRun=true`} body={{ ...wish }} />}
        </Stack>
      </Section>
      {plan.data && plan.data.moves.length > 0 && <><FreedHosts plan={plan.data} /><Moves plan={plan.data} /></>}
    </PageFrame>
  );
}
