// Overview of a cluster: why it is as it is, what it is to have, and what it is made of.
import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../../api/client';
import { usePermission } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { Action } from '../../../parts/action';
import { ExplanationView } from '../../../parts/explanation';
import { Section } from '../../../parts/page_frame';
import { AsyncView, Command } from '../../../parts/states';
import { StateBadge } from '../../../parts/state_badge';
import { Timeline } from '../../../parts/timeline';
import { Ago, Facts, Id } from '../../../parts/values';
import { SmallTable } from '../../operator/small_table';
import { addPool, removePool, scale } from './deeds';
import { clusterPage, clusters } from './kind';
import { ClusterSaves } from './saves';
import { apiText, type Cluster, isEnding, isSettled, type PoolRow, poolRows } from './words';

// Hosts come and go, and retries fall due, of which no change of the cluster tells.
const askAgain = 10_000;

/** The first wait is in the sentence above. */
function OtherWaits({ cluster, waits }: { cluster: Cluster; waits: Schemas['ClusterWait'][] }) {
  if (waits.length < 2) return null;
  return (
    <Stack gap="xs">
      <Text fz="sm" c="dimmed">It waits for this, too:</Text>
      {waits.slice(1).map(({ node, token, sentence, wouldHelp }) => (
        <div key={`${node} ${token} ${sentence}`}>
          <ExplanationView why={{ sentence, wouldHelp: wouldHelp || undefined }} />
          {node && <Text fz="sm"><Link className="plain" href={clusterPage(cluster, 'nodes', { node })}>{node}</Link></Text>}
        </div>
      ))}
    </Stack>
  );
}

function Why({ cluster }: { cluster: Cluster }) {
  const query = useRead(
    '/v1/clusters/{cluster}/explain',
    { params: { cluster: cluster.id }, query: { tenantID: cluster.tenantID } },
    { kinds: ['cluster', 'host'], every: isSettled(cluster) ? undefined : askAgain },
  );
  return (
    <Section title="Why">
      <AsyncView query={query} lines={2}>
        {(why) => {
          const node = why.waits[0]?.node;
          return (
            <Stack gap="xs">
              <ExplanationView why={why} />
              {node && <Text fz="sm"><Link className="plain" href={clusterPage(cluster, 'nodes', { node })}>{node}</Link></Text>}
              <OtherWaits cluster={cluster} waits={why.waits} />
            </Stack>
          );
        }}
      </AsyncView>
    </Section>
  );
}

function PoolActions({ row, own }: { row: PoolRow; own: Pick<ComponentProps<typeof Action<Cluster>>, 'item' | 'kinds' | 'place'> }) {
  return (
    <Group gap="xs" wrap="nowrap">
      {[scale(row), removePool(row)].map((deed) => <Action key={deed.label} {...own} deed={deed} button={{ size: 'compact-xs' }} />)}
    </Group>
  );
}

function Pools({ cluster }: { cluster: Cluster }) {
  const maySeeHosts = usePermission('host.read');
  const mayChange = usePermission('cluster.write', cluster) && !isEnding(cluster);
  const own = { item: cluster, kinds: clusters.kinds, place: clusters.place };
  return (
    <Section title="Pools" actions={<Action {...own} deed={addPool(cluster, maySeeHosts)} />}>
      <SmallTable
        label="Pools"
        rows={poolRows(cluster)}
        id={({ name }) => name}
        columns={[
          { title: 'Pool', cell: ({ title }) => title },
          { title: 'Ready', cell: ({ ready, wanted, leaving }) => <span className="number">{ready}/{wanted}{leaving > 0 && ` · ${leaving} ${leaving === 1 ? 'leaves' : 'leave'}`}</span> },
          ...(mayChange ? [{ title: 'Actions', cell: (row: PoolRow) => (row.needs ? <PoolActions row={row} own={own} /> : ' ') }] : []),
          { title: 'Hosts that it takes', cell: ({ needs }) => needs },
        ]}
      />
    </Section>
  );
}

const pairs = (words: Record<string, string>) => Object.entries(words).map(([name, value]) => `${name}=${value}`).join(', ');

function ClusterFacts({ cluster }: { cluster: Cluster }) {
  const api = apiText(cluster);
  return (
    <Facts
      facts={[
        { name: 'Id', value: <Id value={cluster.id} /> },
        { name: 'Message', value: cluster.message },
        { name: 'API', value: api && <StateBadge state={api} tone={cluster.apiAnswers ? 'ok' : 'bad'} /> },
        { name: 'Endpoint', value: cluster.endpoint && <Id value={cluster.endpoint} /> },
        { name: 'Driver', value: cluster.driver },
        { name: 'Version', value: cluster.version },
        { name: 'Made of save', value: cluster.restore && <Id value={cluster.restore} /> },
        { name: 'Values that differ', value: pairs(cluster.values) },
        { name: 'Tenant, project', value: [cluster.tenantID, cluster.project].filter(Boolean).join(', ') },
        { name: 'Labels', value: pairs(cluster.labels) },
        { name: 'Created', value: <><Ago time={cluster.createdAt} /> {cluster.createdBy && `by ${cluster.createdBy}`}</> },
        { name: 'First node ready', value: cluster.madeAt && <Ago time={cluster.madeAt} /> },
      ]}
    />
  );
}

function LastEvents({ cluster }: { cluster: Cluster }) {
  const query = useRead(
    '/v1/clusters/{cluster}/events',
    { params: { cluster: cluster.id }, query: { tenantID: cluster.tenantID, order: '-created', limit: 8 } },
    { kinds: ['cluster', 'event'] },
  );
  return <Section title="How it came here"><AsyncView query={query}>{(list) => <Timeline events={list.items} />}</AsyncView></Section>;
}

/** The browser has no kubectl: the command line makes its configuration. */
function Use({ cluster }: { cluster: Cluster }) {
  if (!cluster.madeAt || isEnding(cluster)) return null;
  const where = `--tenant-id ${cluster.tenantID} --project ${cluster.project}`;
  return (
    <Section title="Use it with kubectl">
      <Command line={`hostler cluster kubeconfig ${cluster.name} ${where} --out ${cluster.name}.yaml`} />
      <Command line={`kubectl --kubeconfig ${cluster.name}.yaml get nodes`} />
    </Section>
  );
}

export function ClusterOverview({ cluster }: { cluster: Cluster }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack><Why cluster={cluster} /><Pools cluster={cluster} /><ClusterSaves cluster={cluster} /></Stack>
      <Stack><Use cluster={cluster} /><Section title="Facts"><ClusterFacts cluster={cluster} /></Section><LastEvents cluster={cluster} /></Stack>
    </SimpleGrid>
  );
}
