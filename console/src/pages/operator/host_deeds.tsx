// What one does with a host, and what is said before it is done.
import { List, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import type { Deed } from '../../parts/resource';
import { useInstancesOf, useVolumesOf } from './host_sections';

type Host = Schemas['Host'];

function Names({ what, names }: { what: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <>
      <Text>{what}</Text>
      <List size="sm">{names.map((name) => <List.Item key={name}>{name}</List.Item>)}</List>
    </>
  );
}

/** Names of the instances on the host, and of volumes that would be lost. */
function Hit({ host, text, volumes = false }: { host: Host; text: string; volumes?: boolean }) {
  const instances = useInstancesOf(host.id).data?.items ?? [];
  const kept = useVolumesOf(host, volumes);
  const isEmpty = host.instances === 0 && kept.data?.length === 0;
  return (
    <Stack gap="xs">
      <Text>{text}</Text>
      <Names what={`${host.instances} ${host.instances === 1 ? 'instance is' : 'instances are'} on it:`} names={instances.map(({ tenantID, instanceID }) => `${tenantID}/${instanceID}`)} />
      <Names what={`Volumes on it${kept.more ? ', the first ones' : ''}:`} names={(kept.data ?? []).map(({ tenantID, name, size }) => `${tenantID}/${name}, ${size}`)} />
      {host.instances === 0 && !volumes && <Text>No instance is on it.</Text>}
      {isEmpty && <Text>No instance and no volume is on it.</Text>}
    </Stack>
  );
}

const deed = (verb: string, rest: Omit<Deed<Host>, 'method' | 'path' | 'params' | 'command' | 'permission'> & Partial<Deed<Host>>): Deed<Host> => ({
  method: 'POST',
  path: `/v1/hosts/{host}/${verb}`,
  params: (host) => ({ host: host.id }),
  permission: 'host.write',
  command: `host ${verb}`,
  ...rest,
});

const drains = (host: Host) => host.drainUntil !== undefined;

const coming: Deed<Host>[] = [
  deed('cordon', {
    label: 'Cordon',
    plan: (host) => `Nothing new is placed on ${host.name}. What runs there continues.`,
    done: 'The host takes nothing new.',
    when: (host) => !host.cordoned,
  }),
  deed('uncordon', {
    label: 'Uncordon',
    plan: (host) => `${host.name} takes work again.`,
    done: 'The host takes work again.',
    when: (host) => host.cordoned,
  }),
  deed('drain', {
    label: 'Drain',
    plan: (host) => <Hit host={host} text={`${host.name} takes nothing new. Its idle stock moves to other hosts, tenants with instances get a notice, and at its end the remaining instances are stopped. Their names, URLs and volumes stay.`} />,
    fields: [
      { name: 'noticeSeconds', label: 'Notice in seconds', kind: 'number', placeholder: '3600', help: 'After it the remaining instances are stopped. 0: at once.' },
      { name: 'reason', label: 'Reason', placeholder: 'new memory', help: 'Tenants with instances on it read it.' },
    ],
    done: 'The host drains.',
    when: (host) => !drains(host),
  }),
  deed('undrain', {
    label: 'End the drain',
    plan: (host) => `${host.name} takes work again. Instances that were stopped are not started by this.`,
    done: 'The drain has ended.',
    when: drains,
  }),
];

const judging: Deed<Host>[] = [
  deed('admit', {
    label: 'Admit',
    permission: 'host.admit',
    plan: (host) => `${host.name} is admitted with its present GPUs, whatever its measurements say: ${host.admissionReasons.join(' ') || 'no reasons were given.'}`,
    done: 'The host is admitted.',
    when: (host) => host.admission !== 'admitted',
  }),
  deed('release', {
    label: 'Release',
    permission: 'host.admit',
    plan: (host) => `The quarantine of ${host.name} ends. The next machine that connects with its key is the host: switch the copy off first.`,
    done: 'The quarantine has ended.',
    when: (host) => host.state === 'quarantined',
  }),
  deed('measure', {
    label: 'Measure',
    plan: (host) => `${host.name} is measured once its GPUs are unused. An admission by an operator is withdrawn.`,
    done: 'The host will be measured.',
  }),
  deed('', {
    label: 'Edit',
    method: 'PATCH',
    path: '/v1/hosts/{host}',
    permission: 'host.admit',
    command: 'host edit',
    plan: () => 'Tenants may ask for racks, labels and trust. An instance that runs stays where it is.',
    fields: [
      { name: 'rack', label: 'Rack', placeholder: 'nj-r12' },
      { name: 'labels', label: 'Labels', kind: 'labels', placeholder: 'disk=nvme', help: 'An empty value removes a label; the others stay.' },
      { name: 'trust', label: 'Trust', kind: 'choice', values: ['trusted', 'community'] },
    ],
    done: 'The host is changed.',
  }),
];

const removal = (force: boolean): Deed<Host> =>
  deed('', {
    label: force ? 'Remove by force' : 'Remove',
    method: 'DELETE',
    path: '/v1/hosts/{host}',
    query: force ? () => ({ force: true }) : undefined,
    command: 'host remove',
    plan: (host) => <Hit host={host} volumes text={`${host.name} is cut off at once and for good. ${force ? 'Instances and volumes on it are lost. Its running workloads are not stopped: switch the machine off.' : 'With instances or volumes on it this is refused.'}`} />,
    confirmName: (host) => host.name,
    done: 'The host is removed.',
    danger: true,
  });

export const hostDeeds: Deed<Host>[] = [...coming, ...judging, removal(false), removal(true)];
