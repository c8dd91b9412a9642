// Overview of an instance: why it is as it is, URLs, what it is made of, shares.
import { Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { useRead } from '../../api/use_read';
import { Action } from '../../parts/action';
import { ExplanationView } from '../../parts/explanation';
import { InstanceFacts } from './instance_facts';
import { Section } from '../../parts/page_frame';
import type { Deed } from '../../parts/resource';
import { AsyncView, Command } from '../../parts/states';
import { Timeline } from '../../parts/timeline';
import { Ago, CopyButton } from '../../parts/values';
import type { Instance } from './instance_kind';

function Why({ instance }: { instance: Instance }) {
  const query = useRead(
    '/v1/instances/{instance}/explain',
    { params: { instance: instance.id }, query: { tenantID: instance.tenantID } },
    { kinds: ['instance'], every: instance.state === 'ready' ? 3000 : undefined },
  );
  return (
    <Section title="Why">
      <AsyncView query={query} lines={2}>
        {(why) => <ExplanationView why={why} />}
      </AsyncView>
    </Section>
  );
}

function Addresses({ instance }: { instance: Instance }) {
  return (
    <Section title="Open it">
      <Stack gap="xs">
        {instance.urls.map(({ port, url, public: open }) => (
          <Group key={port} gap={4} wrap="nowrap">
            <Text fz="sm" c="dimmed" w={48}>{port}</Text>
            <a className="plain breakable" href={url} target="_blank" rel="noreferrer">{url}</a>
            <CopyButton text={url} what="the URL" />
            {open && <Text fz="xs" c="orange">public</Text>}
          </Group>
        ))}
        {instance.urls.length === 0 && <Text c="dimmed">No port of it is open.</Text>}
        <Command line={`hostler ssh ${instance.instanceID}`} />
      </Stack>
    </Section>
  );
}

type Share = Schemas['Share'];

const unshare: Deed<Share> = {
  label: 'End',
  method: 'DELETE',
  path: '/v1/shares/{share}',
  params: (share) => ({ share: share.id }),
  permission: 'instance.share',
  command: 'instance unshare',
  plan: (share) => `The link to port ${share.port} ends, also for those who have opened it.`,
  done: 'The link has ended.',
  danger: true,
};

const share: Deed<Instance> = {
  label: 'Share a port',
  method: 'POST',
  path: '/v1/instances/{instance}/shares',
  params: (it) => ({ instance: it.instanceID }),
  body: (it) => ({ tenantID: it.tenantID }),
  permission: 'instance.share',
  command: 'instance share',
  plan: () => 'Whoever has the link may open the port until the link ends, without an account.',
  fields: [
    { name: 'port', label: 'Port', kind: 'number', required: true },
    { name: 'forSeconds', label: 'For so many seconds', kind: 'number', initial: 28_800 },
  ],
  done: 'The link is made.',
  answer: (made) => <Stack gap="xs"><Text>The link is shown once:</Text><Command line={(made as Schemas['CreatedShare']).url} /></Stack>,
};

function Shares({ instance }: { instance: Instance }) {
  const query = useRead(
    '/v1/instances/{instance}/shares',
    { params: { instance: instance.id }, query: { tenantID: instance.tenantID } },
    { kinds: ['instance', 'share'] },
  );
  return (
    <Section title="Share links" actions={<Action deed={share} item={instance} kinds={['share']} place={() => instance} />}>
      <AsyncView query={query} lines={2} isEmpty={(list) => list.items.length === 0} empty={<Text c="dimmed">A link lets guests open one port, for some time.</Text>}>
        {(list) => (
          <Table.ScrollContainer minWidth={420}>
            <Table>
              <Table.Thead><Table.Tr><Table.Th>Port</Table.Th><Table.Th>Opened</Table.Th><Table.Th>Ends</Table.Th><Table.Th>By</Table.Th><Table.Th aria-label="Actions" /></Table.Tr></Table.Thead>
              <Table.Tbody>
                {list.items.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td>{one.port}</Table.Td><Table.Td>{one.opened} ×</Table.Td><Table.Td><Ago time={one.expiresAt} /></Table.Td><Table.Td>{one.madeBy}</Table.Td>
                    <Table.Td><Action deed={unshare} item={one} kinds={['share']} place={() => instance} /></Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </AsyncView>
    </Section>
  );
}

function LastEvents({ instance }: { instance: Instance }) {
  const query = useRead(
    '/v1/instances/{instance}/events',
    { params: { instance: instance.id }, query: { tenantID: instance.tenantID, limit: 8 } },
    { kinds: ['instance', 'event'] },
  );
  return <Section title="How it came here"><AsyncView query={query}>{(list) => <Timeline events={list.items} />}</AsyncView></Section>;
}

export function InstanceOverview({ instance }: { instance: Instance }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack><Why instance={instance} /><Addresses instance={instance} /><Shares instance={instance} /></Stack>
      <Stack><Section title="Facts"><InstanceFacts instance={instance} /></Section><LastEvents instance={instance} /></Stack>
    </SimpleGrid>
  );
}
