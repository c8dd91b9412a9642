// Hosts: machines with GPUs.
import { Group } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { resource } from '../../parts/resource';
import { SimulatedBadge, StateBadge } from '../../parts/state_badge';
import { Ago, Bytes, type Fact, Id } from '../../parts/values';
import { bytesText } from '../../parts/words';
import { hostDeeds } from './host_deeds';
import { HostSections } from './host_sections';

type Host = Schemas['Host'];

const states = [
  'ready', 'joining', 'unmeasured', 'refused', 'cordoned', 'draining', 'drained', 'unreachable', 'lost', 'faulty', 'quarantined',
] as const;

const labelText = (labels: Record<string, string>) => Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(' ');

const free = (left: number, all: number) => `${bytesText(left)} of ${bytesText(all)} free`;

function facts(host: Host): Fact[] {
  return [
    { name: 'Id', value: <Id value={host.id} /> },
    { name: 'Zone', value: host.zone },
    { name: 'Rack', value: host.rack },
    { name: 'Provider', value: host.provider || 'the operator' },
    { name: 'GPUs', value: `${host.gpus} × ${host.gpuModels.join(', ')}, ${host.gpusFree} free` },
    { name: 'CPUs', value: `${host.cpuFree} of ${host.cpus} free` },
    { name: 'Memory', value: free(host.memoryFreeBytes, host.memoryBytes) },
    { name: 'Disk', value: free(host.diskFreeBytes, host.diskBytes) },
    { name: 'For new volumes', value: <Bytes value={host.volumeFreeBytes} /> },
    { name: 'Trust', value: host.trust },
    { name: 'Admission', value: <StateBadge state={host.admission} /> },
    { name: 'Tier', value: host.tier },
    { name: 'Measured', value: host.measuredAt && <Ago time={host.measuredAt} /> },
    { name: 'Labels', value: labelText(host.labels) },
    { name: 'Access point', value: host.accessRttMs === undefined ? host.accessPoint : `${host.accessPoint}, ${Number(host.accessRttMs.toPrecision(2))} ms` },
    { name: 'Standby', value: host.standbyAccessPoints.join(', ') },
    { name: 'Last report', value: host.seenAt && <Ago time={host.seenAt} /> },
    { name: 'Joined', value: <Ago time={host.joinedAt} /> },
    { name: 'Drained until', value: host.drainUntil && <><Ago time={host.drainUntil} /> {host.drainReason}</> },
    { name: 'System', value: [host.os, host.kernel, host.architecture].filter(Boolean).join(', ') },
    { name: 'CPU model', value: host.cpuModel },
    { name: 'Driver', value: host.driverVersion && `${host.driverVersion}, CUDA ${host.cudaVersion}` },
    { name: 'Engine', value: host.engine },
    { name: 'Agent', value: host.agentVersion },
    { name: 'Serial number', value: host.machine?.serialNumber },
    { name: 'Addresses', value: host.machine?.addresses.join(', ') },
  ];
}

export const hosts = resource('/v1/hosts', {
  noun: 'host',
  title: 'Hosts',
  page: '/hosts',
  kinds: ['host'],
  permission: 'host.read',
  id: (host) => host.id,
  name: (host) => host.name,
  place: ({ provider }) => ({ provider }),
  columns: [
    { key: 'name', title: 'Name', value: (host) => host.name },
    { key: 'state', title: 'State', value: (host) => host.state, cell: (host) => <StateBadge state={host.state} reason={host.message} />, width: '150px' },
    { key: 'gpus', title: 'GPUs', value: (host) => host.gpus, cell: (host) => `${host.gpus} × ${host.gpuModels.join(', ')}` },
    { key: 'free', title: 'Free', value: (host) => host.gpusFree, width: '80px', align: 'right' },
    { key: 'instances', title: 'Instances', value: (host) => host.instances, width: '110px', align: 'right' },
    { key: 'zone', title: 'Zone', value: (host) => host.zone, width: '100px' },
    { key: 'provider', title: 'Provider', value: (host) => host.provider, width: '120px', wideOnly: true },
    { key: 'simulated', title: 'Kind', value: (host) => (host.simulated ? 'simulated' : 'real'), cell: (host) => (host.simulated ? <SimulatedBadge /> : 'real'), width: '140px' },
    { key: 'seen', title: 'Last report', value: (host) => host.seenAt, cell: (host) => <Ago time={host.seenAt} />, width: '120px' },
  ],
  filters: [
    { name: 'state', label: 'State', values: states },
    { name: 'zone', label: 'Zone' },
    { name: 'label', label: 'Label, disk=nvme' },
  ],
  empty: {
    text: 'A host is a machine with GPUs. It joins with a token that is good once.',
    command: 'hostler host token create --zone nj',
  },
  actions: hostDeeds,
  detail: {
    path: '/v1/hosts/{host}',
    param: 'host',
    badges: (host) => (
      <Group gap="xs">
        <StateBadge state={host.state} reason={host.message} />
        <SimulatedBadge simulated={host.simulated} />
        <Link className="plain" href={`/fleet?zone=${encodeURIComponent(host.zone)}`}>on the map</Link>
      </Group>
    ),
    facts,
    sections: (host) => <HostSections host={host} />,
  },
});
