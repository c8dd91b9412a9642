// Instances: columns and all that can be done to one.
import { Group } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { usePermission } from '../../api/permissions';
import { type Deed, resource } from '../../parts/resource';
import { SimulatedBadge, StateBadge, stateTone } from '../../parts/state_badge';
import { Ago } from '../../parts/values';

export type Instance = Schemas['Instance'];

const states = ['init', 'ready', 'running', 'stopping', 'stopped', 'failed', 'lost'] as const;

export function InstanceState({ instance }: { instance: Pick<Instance, 'state' | 'phase' | 'message' | 'reason'> }) {
  const starting = instance.state === 'ready' || instance.state === 'init';
  const word = starting && instance.phase ? instance.phase : instance.state;
  return <StateBadge state={word} tone={starting ? 'busy' : stateTone(instance.state)} reason={instance.message || instance.reason} />;
}

/** Address of a page of the instance: `instancePage(it, 'logs')`. */
export function instancePage(instance: { id: string; tenantID: string }, tab = ''): string {
  const path = `/instances/${encodeURIComponent(instance.id)}${tab ? `/${tab}` : ''}`;
  return `${path}?tenantID=${encodeURIComponent(instance.tenantID)}`;
}

type InstanceDeed = Deed<Instance>;

/** The API lets no caller change what a job or service owns. */
const hasNoOwner = (it: Instance) => it.owner === undefined;

const common = {
  method: 'POST',
  params: (it: Instance) => ({ instance: it.instanceID }),
  body: (it: Instance) => ({ tenantID: it.tenantID }),
  permission: 'instance.write',
} as const;

export const stop: InstanceDeed = {
  ...common,
  label: 'Stop',
  path: '/v1/instances/{instance}/stop',
  command: 'instance stop',
  plan: (it) => `${it.instanceID} stops and releases ${it.gpus.length === 1 ? 'its GPU' : `its ${it.gpus.length} GPUs`}. Its name, URLs, volumes and written files stay; it can be started again.`,
  done: 'The instance stops.',
  when: (it) => hasNoOwner(it) && ['init', 'ready', 'running', 'lost'].includes(it.state),
};

export const start: InstanceDeed = {
  ...common,
  label: 'Start',
  path: '/v1/instances/{instance}/start',
  command: 'instance start',
  plan: (it) => `${it.instanceID} starts again as ${it.specName}. The price of the spec counts from then on.`,
  done: 'The instance starts.',
  when: (it) => hasNoOwner(it) && it.state === 'stopped' && it.resumable,
};

export const restart: InstanceDeed = {
  ...common,
  label: 'Restart',
  path: '/v1/instances/{instance}/restart',
  command: 'instance restart',
  plan: (it) => `${it.instanceID} gets a new container in its place. What runs in it ends; files, volumes and URLs stay.`,
  done: 'The instance restarts.',
  when: (it) => hasNoOwner(it) && it.state === 'running',
};

export const retry: InstanceDeed = {
  ...common,
  label: 'Try again',
  path: '/v1/instances/{instance}/retry',
  command: 'instance retry',
  plan: (it) => `${it.instanceID} begins once more, with its name, URLs and volumes.`,
  done: 'The instance begins once more.',
  when: (it) => hasNoOwner(it) && (it.state === 'failed' || (it.state === 'stopped' && it.reason === 'completed')),
};

export const keep: InstanceDeed = {
  ...common,
  label: 'Keep',
  path: '/v1/instances/{instance}/keep-alive',
  command: 'instance keep-alive',
  plan: (it) => `${it.instanceID} counts as used for the next hour. It costs as long as it runs.`,
  body: (it) => ({ tenantID: it.tenantID, forSeconds: 3600 }),
  done: 'The instance is kept for an hour.',
  when: (it) => it.state === 'running' && it.inactivityTimeoutSeconds > 0,
};

const remove: InstanceDeed = {
  ...common,
  label: 'Delete',
  method: 'DELETE',
  path: '/gpu-instances/{instanceID}',
  params: (it) => ({ instanceID: it.instanceID }),
  query: (it) => ({ tenantID: it.tenantID }),
  body: () => ({}),
  command: 'instance delete',
  plan: (it) => `${it.instanceID} ends for good. What it wrote outside volumes is lost; its volumes stay.`,
  confirmName: (it) => it.instanceID,
  done: 'The instance is being deleted.',
  when: hasNoOwner,
  danger: true,
};

/** Open, terminal, logs, why: one click from every list. */
export function InstanceLinks({ instance }: { instance: Instance }) {
  const running = instance.state === 'running';
  const mayEnter = usePermission('instance.enter', instance);
  const mayRead = usePermission('instance.logs', instance);
  const url = instance.urls[0]?.url;
  return (
    <Group gap="sm" wrap="nowrap" component="span" display="inline-flex">
      {running && mayEnter && url && <a href={url} target="_blank" rel="noreferrer">Open</a>}
      {running && mayEnter && <Link href={instancePage(instance, 'terminal')}>Terminal</Link>}
      {mayRead && <Link href={instancePage(instance, 'logs')}>Logs</Link>}
      {!running && <Link href={instancePage(instance)}>Why</Link>}
    </Group>
  );
}

export const instances = resource('/v1/instances', {
  noun: 'instance',
  title: 'Instances',
  page: '/instances',
  kinds: ['instance'],
  permission: 'instance.read',
  id: (it) => it.id,
  name: (it) => it.instanceID,
  place: ({ tenantID, project }) => ({ tenantID, project }),
  columns: [
    { key: 'name', title: 'Name', value: (it) => it.instanceID },
    { key: 'state', title: 'State', value: (it) => it.state, cell: (it) => <InstanceState instance={it} />, width: '130px' },
    { key: 'links', title: 'Open', value: () => undefined, cell: (it) => <InstanceLinks instance={it} />, width: '200px' },
    { key: 'spec', title: 'Spec', value: (it) => it.specName, width: '120px' },
    { key: 'zone', title: 'Zone', value: (it) => it.zone, width: '90px' },
    { key: 'project', title: 'Project', value: (it) => it.project, width: '110px', wideOnly: true },
    { key: 'tenant', title: 'Tenant', value: (it) => it.tenantID, width: '110px', wideOnly: true },
    { key: 'stops', title: 'Stops', value: (it) => it.stopsAt, cell: (it) => it.stopsAt && <Ago time={it.stopsAt} />, width: '110px', wideOnly: true },
    { key: 'created', title: 'Made', value: (it) => it.createdAt, cell: (it) => <Ago time={it.createdAt} />, width: '130px' },
  ],
  filters: [
    { name: 'state', label: 'State', values: states },
    { name: 'zone', label: 'Zone' },
    { name: 'project', label: 'Project' },
  ],
  query: { all: true },
  empty: {
    text: 'An instance is a container with whole GPUs, a URL for each port, a terminal and logs.',
    command: 'hostler instance create notebook-1 --spec h100-1 --template jupyter --wait',
  },
  actions: [stop, start, restart, retry, keep, remove],
  detail: { path: '/v1/instances/{instance}', param: 'instance', facts: () => [], badges: (it) => <><InstanceState instance={it} /><SimulatedBadge simulated={it.simulated} /></> },
});
