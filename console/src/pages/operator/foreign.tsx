// Foreign workloads: they run on hosts with our labels, and the store does not know them.
import { Group, List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { Action } from '../../parts/action';
import { type Deed, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago } from '../../parts/values';

type Foreign = Schemas['ForeignWorkload'];

const nameOf = (workload: Foreign) => workload.name || workload.id;
const why = [{ name: 'why', label: 'Comment', help: 'For those who read the decision later.' }] as const;

const deed = (verb: string, rest: Pick<Deed<Foreign>, 'label' | 'plan' | 'done'> & Partial<Deed<Foreign>>): Deed<Foreign> => ({
  method: 'POST',
  path: `/v1/foreign-workloads/{workload}/${verb}`,
  params: ({ id }) => ({ workload: id }),
  permission: 'foreign.write',
  command: `reconcile ${verb}`,
  ...rest,
});

function AdoptPlan({ workload }: { workload: Foreign }) {
  return (
    <Stack gap="xs">
      <Text>{nameOf(workload)} becomes an instance of {workload.tenantID || 'its tenant'}, as it runs.</Text>
      {workload.notKnown.length > 0 && <><Text>It will lack:</Text><List size="sm">{workload.notKnown.map((one) => <List.Item key={one}>{one}</List.Item>)}</List></>}
    </Stack>
  );
}

const deeds: Deed<Foreign>[] = [
  deed('adopt', { label: 'Adopt', plan: (workload) => <AdoptPlan workload={workload} />, done: 'The workload is an instance now.' }),
  deed('keep', { label: 'Keep', plan: (workload) => `${nameOf(workload)} is left running and holds its place until it ends.`, fields: why, done: 'The workload is kept.', when: ({ decision }) => decision !== 'keep' }),
  deed('remove', {
    label: 'Remove',
    plan: (workload) => `${nameOf(workload)} is stopped and removed. What it has written outside volumes is lost.`,
    fields: why,
    confirmName: nameOf,
    done: 'The workload is removed.',
    danger: true,
  }),
];

function Decide({ workload }: { workload: Foreign }) {
  return <Group gap={4} wrap="nowrap">{deeds.map((one) => <Action key={one.label} deed={one} item={workload} kinds={['foreign-workload', 'instance']} button={{ size: 'compact-xs' }} />)}</Group>;
}

export const foreignWorkloads = resource('/v1/foreign-workloads', {
  noun: 'foreign workload',
  title: 'Foreign workloads',
  page: '/foreign-workloads',
  kinds: ['foreign-workload'],
  permission: 'foreign.read',
  id: (workload) => workload.id,
  name: nameOf,
  columns: [
    { key: 'name', title: 'Name', value: nameOf },
    { key: 'state', title: 'State', value: (workload) => workload.state, cell: (workload) => <StateBadge state={workload.state} />, width: '130px' },
    { key: 'host', title: 'Host', value: (workload) => workload.host, cell: (workload) => <Link href={`/hosts/${encodeURIComponent(workload.host)}`}>{workload.host}</Link> },
    { key: 'gpus', title: 'GPUs', value: (workload) => workload.gpus.length, width: '80px', align: 'right' },
    { key: 'why', title: 'Why it is foreign', value: (workload) => workload.message, cell: (workload) => <span title={workload.message}>{workload.message}</span> },
    { key: 'decision', title: 'Decision', value: (workload) => workload.decision, cell: (workload) => <StateBadge state={workload.decision} reason={workload.why} tone={workload.decision === 'open' ? 'warn' : 'off'} />, width: '110px' },
    { key: 'seen', title: 'Since', value: (workload) => workload.seenSince, cell: (workload) => <Ago time={workload.seenSince} />, width: '110px' },
    { key: 'decide', title: 'Decide', value: () => '', cell: (workload) => <Decide workload={workload} />, width: '230px' },
  ],
  filters: [
    { name: 'decision', label: 'Decision', values: ['open', 'keep', 'remove'] },
    { name: 'host', label: 'Host' },
  ],
  lead: 'They hold their GPUs until you decide: adopt them as instances, keep them, or remove them.',
  empty: { text: 'All that runs on the hosts is known to the store. After a restore, workloads that are younger than the backup appear here.', command: 'hostler reconcile review' },
});
