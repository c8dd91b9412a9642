// Clusters: columns, and what can be done to one.
import { Group, Text } from '@mantine/core';
import { resource } from '../../../parts/resource';
import { StateBadge } from '../../../parts/state_badge';
import { Ago } from '../../../parts/values';
import { remove } from './deeds';
import { type Cluster, clusterStates, readyText, reasonText, tones } from './words';

/** Its state, and beside it why. */
export function ClusterState({ cluster }: { cluster: Pick<Cluster, 'state' | 'reason' | 'message'> }) {
  const why = reasonText(cluster);
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" maw="100%">
      <StateBadge state={cluster.state} tone={tones[cluster.state]} reason={cluster.message} />
      {why && <Text component="span" fz="xs" c="dimmed" truncate title={cluster.message || undefined}>{why}</Text>}
    </Group>
  );
}

export const clusters = resource('/v1/clusters', {
  noun: 'cluster',
  title: 'Clusters',
  page: '/clusters',
  kinds: ['cluster'],
  permission: 'cluster.read',
  id: (cluster) => cluster.id,
  name: (cluster) => cluster.name,
  place: ({ tenantID, project }) => ({ tenantID, project }),
  columns: [
    { key: 'name', title: 'Name', value: (cluster) => cluster.name },
    { key: 'state', title: 'State', value: (cluster) => `${cluster.state} ${reasonText(cluster)}`.trim(), cell: (cluster) => <ClusterState cluster={cluster} />, width: '240px' },
    { key: 'nodes', title: 'Nodes ready', value: (cluster) => cluster.readyNodes, cell: (cluster) => <span className="number">{readyText(cluster)}</span>, width: '110px', align: 'right' },
    { key: 'version', title: 'Version', value: (cluster) => cluster.version, width: '100px' },
    { key: 'driver', title: 'Driver', value: (cluster) => cluster.driver, width: '110px' },
    { key: 'project', title: 'Project', value: (cluster) => cluster.project, width: '110px', wideOnly: true },
    { key: 'tenant', title: 'Tenant', value: (cluster) => cluster.tenantID, width: '120px', wideOnly: true },
    { key: 'created', title: 'Created', value: (cluster) => cluster.createdAt, cell: (cluster) => <Ago time={cluster.createdAt} />, width: '110px' },
  ],
  filters: [
    { name: 'state', label: 'State', values: clusterStates },
    { name: 'project', label: 'Project' },
    { name: 'label', label: 'Label, team=ml' },
  ],
  query: { order: '-created' },
  queryExample: 'wantedNodes>3',
  empty: {
    text: 'A cluster is Kubernetes on whole hosts: a control plane, and workers in pools. While a host is a node nothing else runs there.',
    command: `hostler cluster create train --control 3 --pool '{"name":"gpu","count":2,"gpuType":"H100","gpus":8}'`,
  },
  actions: [remove],
  rowActions: ['Delete'],
  detail: { path: '/v1/clusters/{cluster}', param: 'cluster', facts: () => [], badges: (cluster) => <ClusterState cluster={cluster} /> },
});

/** Address of a page of the cluster: `clusterPage(it, 'nodes')`. */
export function clusterPage({ id, tenantID }: Pick<Cluster, 'id' | 'tenantID'>, tab = '', more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ tenantID, ...more });
  return `/clusters/${encodeURIComponent(id)}${tab ? `/${tab}` : ''}?${query.toString()}`;
}
