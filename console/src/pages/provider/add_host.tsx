// A host joins: a token is made, its command is copied, and the page tells when the host is there.
import { Button, Group, List, Loader, Stack, Stepper, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { useWhoami } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { PageFrame, Section } from '../../parts/page_frame';
import type { FormField } from '../../parts/resource';
import { ResourceForm } from '../../parts/resource_form';
import { SimulatedBadge, StateBadge } from '../../parts/state_badge';
import { Command } from '../../parts/states';
import { Ago } from '../../parts/values';

type Created = Schemas['CreatedHostToken'];
type Host = Schemas['Host'];

const every = 3000;

/** A provider adds hosts under the own name; the operator under any, or none. */
function useFields(): FormField[] {
  const scopes = useWhoami()?.scopes ?? [];
  const own = scopes.filter(({ level }) => level === 'provider').flatMap(({ provider }) => provider ?? []);
  const isCloud = scopes.some(({ level, permissions }) => level === 'cloud' && permissions.includes('host.write'));
  return [
    { name: 'zone', label: 'Zone', kind: 'choice', required: true, valuesFrom: { path: '/v1/zones', field: 'name' }, help: 'The site where the host stands.' },
    isCloud
      ? { name: 'provider', label: 'Provider', placeholder: 'rackhouse', help: 'Owner of the host. Without one: the operator.' }
      : { name: 'provider', label: 'Provider', kind: 'choice', required: true, values: own, initial: own[0] },
    { name: 'ttlSeconds', label: 'Good for so many seconds', kind: 'number', placeholder: '3600', help: 'The token is good once.', more: true },
  ];
}

/** The host that joined with the token; undefined: none has yet. */
function useJoined(token: Created): Host | undefined {
  const tokens = useRead('/v1/host-tokens', { query: { limit: 1000 } }, { kinds: ['host', 'host-token'], every });
  const id = tokens.data?.items.find((one) => one.id === token.id)?.host;
  const hosts = useRead('/v1/hosts/{host}', { params: { host: id ?? '' } }, { kinds: ['host', 'gpu'], enabled: id !== undefined, every });
  return hosts.data;
}

const steps = ['waits', 'joined', 'measured', 'sells'];

/** How far it is: 0 waits, 1 has joined, 2 has reported and is measured, 3 takes work. */
function stepOf(host: Host | undefined): number {
  if (!host) return 0;
  if (host.state === 'joining') return 1;
  return host.admission === 'admitted' ? steps.length : 2;
}

const gpusText = (host: Host) => (host.gpus > 0 ? `${host.gpus} × ${host.gpuModels.join(', ')}` : 'no GPUs');

function Sentence({ host, token }: { host?: Host; token: Created }) {
  if (!host) return <Text>Waiting for the host. The token expires <Ago time={token.expiresAt} />.</Text>;
  if (host.state === 'joining') return <Text><b>{host.name}</b> has joined and has not reported yet.</Text>;
  if (host.admission === 'admitted') return <Text><b>{host.name}</b> has joined, {gpusText(host)}, and takes work.</Text>;
  if (host.admission === 'refused') return <Text><b>{host.name}</b> has joined, {gpusText(host)}, and is refused.</Text>;
  return <Text><b>{host.name}</b> has joined, {gpusText(host)}, measuring…</Text>;
}

function Progressing({ token }: { token: Created }) {
  const host = useJoined(token);
  const step = stepOf(host);
  const waits = step < steps.length && host?.admission !== 'refused';
  return (
    <Section title="Progress">
      <Stack>
        <Stepper active={step} size="sm" iconSize={28} orientation="horizontal" wrap>
          <Stepper.Step label="Command is run" />
          <Stepper.Step label="Joined" />
          <Stepper.Step label="Measured" />
          <Stepper.Step label="Takes work" />
        </Stepper>
        <Group gap="sm" role="status">
          {waits && <Loader size="xs" aria-hidden />}
          <Sentence host={host} token={token} />
          {host && <StateBadge state={host.state} reason={host.message} />}
          {host && <SimulatedBadge simulated={host.simulated} />}
        </Group>
        {host && host.admissionReasons.length > 0 && <List size="sm">{host.admissionReasons.map((reason) => <List.Item key={reason}>{reason}</List.Item>)}</List>}
        {host && <Group><Button component={Link} href={`/hosts/${encodeURIComponent(host.id)}`} variant="default">Open the host</Button></Group>}
      </Stack>
    </Section>
  );
}

function Join({ token, onAgain }: { token: Created; onAgain: () => void }) {
  return (
    <>
      <Section title="Run this on the host">
        <Stack>
          <Command line={token.command} />
          <Text fz="sm" c="dimmed">The token in it is shown this once, and is good once. It needs the package of the agent, and root.</Text>
          <Group><Button variant="default" size="xs" onClick={onAgain}>Add another host</Button></Group>
        </Stack>
      </Section>
      <Progressing token={token} />
    </>
  );
}

export default function AddHostPage() {
  const [token, setToken] = useState<Created>();
  const fields = useFields();
  return (
    <PageFrame title="Add a host" up={{ to: '/hosts', label: 'Hosts' }} lead="A machine with GPUs joins with one command." actions={<Link className="plain" href="/host-tokens">Host tokens</Link>}>
      {token ? (
        <Join token={token} onAgain={() => setToken(undefined)} />
      ) : (
        <Section title="Where it stands">
          <ResourceForm fields={fields} path="/v1/host-tokens" command="host token create" submit="Make the command" done="The command is made." kinds={['host-token']} onDone={(answer) => setToken(answer as Created)} />
        </Section>
      )}
    </PageFrame>
  );
}
