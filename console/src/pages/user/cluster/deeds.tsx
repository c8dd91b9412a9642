// What one does to a cluster and its nodes, and what is said before it is done.
import { List, Stack, Text } from '@mantine/core';
import { useWould } from '../../../api/use_would';
import type { Deed, FormField } from '../../../parts/resource';
import { Refusal } from '../../../parts/states';
import type { Write } from '../../../parts/use_deed';
import { poolFields } from './create_form';
import { type Cluster, type ClusterNode, deleteText, isEnding, type PoolRow, scaleText } from './words';

const kinds = ['cluster', 'host'];

const one = {
  path: '/v1/clusters/{cluster}',
  params: ({ id }: Cluster) => ({ cluster: id }),
  permission: 'cluster.write',
} as const;

export const remove: Deed<Cluster> = {
  ...one,
  label: 'Delete',
  method: 'DELETE',
  query: ({ tenantID }) => ({ tenantID }),
  command: 'cluster delete',
  plan: deleteText,
  confirmName: ({ name }) => name,
  done: 'The cluster is being deleted.',
  when: ({ state }) => state !== 'deleting' && state !== 'deleted',
  danger: true,
  dismiss: 'Keep it',
};

/** Hosts that are not clean, a sentence each. */
function Leaves({ leaves, none }: { leaves: string[]; none: string }) {
  if (leaves.length === 0) return <Text>{none}</Text>;
  return (
    <Stack gap="xs">
      <Text>These hosts are not known to be clean. They take no work until they are:</Text>
      <List size="sm">{leaves.map((sentence) => <List.Item key={sentence} className="breakable">{sentence}</List.Item>)}</List>
    </Stack>
  );
}

/** The answer of a dry run: what would be left where. */
function WouldLeave({ write }: { write: Write }) {
  const { params, query } = write.call;
  const would = useWould<Cluster>({ method: write.method, path: write.path, params, query, complete: Boolean(query?.reason), kinds });
  if (!query?.reason) return <Text c="dimmed">With a reason, the hosts that would be left are shown here.</Text>;
  if (would.error) return <Refusal problem={would.error} />;
  if (!would.data) return <Text c="dimmed" role="status">The API is asked what would be left.</Text>;
  return <div role="status"><Leaves leaves={would.data.leaves} none="No host would be left." /></div>;
}

export const removeByForce: Deed<Cluster> = {
  ...remove,
  label: 'Delete by force',
  query: ({ tenantID }) => ({ tenantID, force: true }),
  plan: (cluster) => `${deleteText(cluster)} The deletion waits for no host that cannot be cleaned.`,
  fields: [{ name: 'reason', label: 'Reason', required: true, placeholder: 'the hosts are being replaced', help: 'It is kept in the events.' }],
  inQuery: true,
  preview: (write) => <WouldLeave write={write} />,
  when: ({ state }) => state !== 'deleted',
  done: 'The cluster is being deleted by force.',
  answer: (answer) => <Leaves leaves={(answer as Cluster).leaves} none="No host is left that is not clean." />,
};

function WouldScale({ row, write }: { row: PoolRow; write: Write }) {
  const { control, count } = write.call.body as { control?: number; count?: number };
  const next = row.name ? count : control;
  const changes = next !== undefined && next !== row.wanted;
  const would = useWould<Cluster>({ method: write.method, path: write.path, params: write.call.params, body: write.call.body as Record<string, unknown>, complete: changes, kinds });
  if (changes && would.error) return <Refusal problem={would.error} />;
  return <Text role="status">{scaleText(row, next)}</Text>;
}

const numberField = ({ name, wanted }: PoolRow): FormField =>
  name
    ? { name: 'count', label: 'Hosts', kind: 'number', required: true, initial: wanted }
    : { name: 'control', label: 'Hosts', kind: 'choice', values: ['1', '3'], required: true, initial: String(wanted) };

/** Of the control plane, or of a pool. */
export const scale = (row: PoolRow): Deed<Cluster> => ({
  ...one,
  label: 'Scale',
  method: 'PATCH',
  command: 'cluster scale',
  body: ({ tenantID }) => ({ tenantID, ...(row.name ? { pool: row.name } : {}) }),
  plan: () => (row.name ? `Pool ${row.name}: ${row.needs}.` : 'The control plane has 1 or 3 hosts. With 3 the API survives the loss of one of them.'),
  fields: [numberField(row)],
  shape: (body) => (body.control === undefined ? body : { ...body, control: Number(body.control) }),
  preview: (write) => <WouldScale row={row} write={write} />,
  when: (cluster) => !isEnding(cluster),
  done: 'The cluster is asked to have this number of hosts.',
});

/** The request repeats the others. Its nodes leave as if it were scaled to none. */
export const removePool = ({ cluster, name, wanted }: PoolRow): Deed<Cluster> => ({
  ...one,
  label: 'Remove',
  method: 'PATCH',
  command: 'cluster scale',
  body: ({ tenantID }) => ({ tenantID, pools: cluster.pools.filter((pool) => pool.name !== name) }),
  plan: () => (wanted > 0 ? scaleText({ name, wanted }, 0) : `Pool ${name} has no hosts.`),
  confirmName: () => name,
  when: (it) => name !== '' && !isEnding(it),
  done: `Pool ${name} is removed.`,
  danger: true,
  dismiss: 'Keep it',
});

/** A further pool stands beside the present ones, which the request repeats. */
export const addPool = (cluster: Cluster, maySeeHosts: boolean): Deed<Cluster> => ({
  ...one,
  label: 'Add a pool',
  method: 'PATCH',
  command: 'cluster scale',
  body: ({ tenantID }) => ({ tenantID }),
  plan: () => `${cluster.name} takes hosts for the pool as soon as they are free. Nothing else runs there then.`,
  fields: poolFields(0, maySeeHosts).map((field) => ({ ...field, more: false })),
  shape: ({ pools, ...body }) => ({ ...body, pools: [...cluster.pools, (pools as Record<string, unknown> | undefined)?.[0] ?? {}] }),
  when: (it) => !isEnding(it),
  done: 'The pool is added.',
});

/** Of those who keep the hosts: the way out where cleaning does not succeed. */
export const forget: Deed<ClusterNode> = {
  label: 'Forget',
  method: 'POST',
  path: '/v1/cluster-nodes/{node}/forget',
  params: ({ id }) => ({ node: id }),
  body: () => ({ force: true }),
  permission: 'cluster.admin',
  command: 'cluster node forget',
  plan: ({ name, host, leftovers }) => (
    <Stack gap="xs">
      <Text>Host {host || `of ${name}`} takes work again though parts of the cluster may still be there. Check the host first, or install it again.</Text>
      {leftovers.length > 0 && <Text>Found there last:</Text>}
      {leftovers.length > 0 && <List size="sm">{leftovers.map((part) => <List.Item key={part} className="breakable">{part}</List.Item>)}</List>}
      {leftovers.length === 0 && <Text>It is not known what is left there.</Text>}
    </Stack>
  ),
  fields: [{ name: 'reason', label: 'Reason', required: true, placeholder: 'the host was installed again', help: 'It is kept in the events of cluster and host.' }],
  confirmName: ({ name }) => name,
  when: ({ state }) => state === 'unclean',
  done: 'The host takes work again.',
  danger: true,
};
