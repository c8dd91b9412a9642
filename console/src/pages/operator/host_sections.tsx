// Parts of the page of a host: why it is so, its GPUs and who has them, instances, foreign workloads, network.
import { List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Section } from '../../parts/page_frame';
import { StateBadge } from '../../parts/state_badge';
import { AsyncView } from '../../parts/states';
import { Ago } from '../../parts/values';
import { InstanceName } from '../user/instance_name';
import { Charts, Happened } from './happened';
import { SmallTable } from './small_table';

type Host = Schemas['Host'];
type Gpu = Schemas['Gpu'];

function Why({ host }: { host: Host }) {
  const query = useRead('/v1/hosts/{host}/explain', { params: { host: host.id } }, { kinds: ['host', 'gpu'] });
  const remarks = [...host.admissionReasons, ...host.problems];
  return (
    <Section title="Why it is so">
      <AsyncView query={query} lines={2}>
        {(why) => {
          const reasons = [...new Set([...why.blocking.map(({ reason }) => reason), ...remarks])];
          return (
            <Stack gap="xs">
              <Text>{why.sentence}</Text>
              {why.wouldHelp && <Text><b>Remedy:</b> {why.wouldHelp}</Text>}
              {reasons.length > 0 && <List size="sm">{reasons.map((reason) => <List.Item key={reason}>{reason}</List.Item>)}</List>}
            </Stack>
          );
        }}
      </AsyncView>
    </Section>
  );
}

export function Holder({ gpu }: { gpu: Gpu }) {
  if (!gpu.holder && !gpu.heldBy) return <Text span fz="sm" c="dimmed">{gpu.use}</Text>;
  if (gpu.use === 'instance') return <Link className="plain" href={`/instances/${encodeURIComponent(gpu.heldBy)}`}>{gpu.holder || gpu.heldBy}</Link>;
  if (gpu.use === 'stock') return <Link className="plain" href={`/stock/${encodeURIComponent(gpu.holder)}`}>stock {gpu.holder}</Link>;
  if (gpu.use === 'cluster') {
    return (
      <>
        {gpu.pod ? `pod ${gpu.podNamespace}/${gpu.pod} of ` : 'node '}
        <Link className="plain" href={`/clusters/${encodeURIComponent(gpu.cluster)}`}>{gpu.holder || gpu.heldBy}</Link>
      </>
    );
  }
  return <>{gpu.holder || gpu.heldBy}</>;
}

const link = (gpu: Gpu) => (gpu.pcieGeneration > 0 ? `PCIe ${gpu.pcieGeneration} ×${gpu.pcieWidth}` : '');

function Gpus({ host }: { host: Host }) {
  const permitted = usePermission('gpu.read', host);
  const query = useRead('/v1/gpus', { query: { host: host.id, limit: 200 } }, { kinds: ['gpu', 'host'], enabled: permitted });
  if (!permitted || host.gpus === 0) return null;
  return (
    <Section title="GPUs and their holders">
      <AsyncView query={query}>
        {({ items }) => (
          <SmallTable
            label="GPUs"
            rows={[...items].sort((a, b) => a.numaNode - b.numaNode || a.index - b.index)}
            id={(gpu) => gpu.id}
            columns={[
              { title: 'GPU', cell: (gpu) => <Link className="plain" href={`/gpus/${encodeURIComponent(gpu.id)}`}>GPU {gpu.index}</Link> },
              { title: 'State', cell: (gpu) => <StateBadge state={gpu.state} reason={gpu.message} /> },
              { title: 'Held by', cell: (gpu) => <Holder gpu={gpu} /> },
              { title: 'NUMA node', cell: (gpu) => (gpu.numaNode < 0 ? '' : String(gpu.numaNode)) },
              { title: 'PCI address', cell: (gpu) => gpu.pciAddress },
              { title: 'Link', cell: link },
              { title: 'Use', cell: (gpu) => (gpu.utilizationPercent === undefined ? '' : `${gpu.utilizationPercent} %`) },
              { title: 'Temperature', cell: (gpu) => (gpu.temperatureCelsius === undefined ? '' : `${gpu.temperatureCelsius} °C`) },
            ]}
          />
        )}
      </AsyncView>
    </Section>
  );
}

export function useInstancesOf(host: string) {
  const permitted = usePermission('instance.read');
  return useRead('/v1/instances', { query: { host, limit: 100 } }, { kinds: ['instance'], enabled: permitted });
}

const mostVolumes = 1000;

/** The API has no filter of volumes by host; those of its zone are few enough to look through. */
export function useVolumesOf(host: Host, enabled = true): { data?: Schemas['Volume'][]; more: boolean } {
  const permitted = usePermission('volume.read');
  const query = useRead('/v1/volumes', { query: { zone: host.zone, limit: mostVolumes } }, { kinds: ['volume'], enabled: permitted && enabled });
  return { data: query.data?.items.filter((volume) => volume.host === host.id), more: Boolean(query.data?.nextCursor) };
}

function Volumes({ host }: { host: Host }) {
  const { data, more } = useVolumesOf(host);
  if (!data?.length) return null;
  return (
    <Section title="Volumes" actions={more && <Text fz="sm" c="dimmed">of the first {mostVolumes.toLocaleString('en')} of the zone</Text>}>
      <SmallTable
        label="Volumes"
        rows={data}
        id={(volume) => volume.id}
        columns={[
          { title: 'Name', cell: (volume) => <Link className="plain" href={`/volumes/${encodeURIComponent(volume.id)}?tenantID=${encodeURIComponent(volume.tenantID)}`}>{volume.name}</Link> },
          { title: 'State', cell: (volume) => <StateBadge state={volume.state} reason={volume.message} /> },
          { title: 'Tenant', cell: (volume) => volume.tenantID },
          { title: 'Size', cell: (volume) => volume.size },
          { title: 'Attached to', cell: (volume) => volume.attachedTo.length > 0 && volume.attachedTo.map((id) => <InstanceName key={id} id={id} tenantID={volume.tenantID} />) },
        ]}
      />
    </Section>
  );
}

function Instances({ host }: { host: Host }) {
  const query = useInstancesOf(host.id);
  if (!query.data?.items.length) return null;
  return (
    <Section title="Instances">
      <SmallTable
        label="Instances"
        rows={query.data.items}
        id={(instance) => instance.id}
        columns={[
          { title: 'Name', cell: (instance) => <Link className="plain" href={`/instances/${instance.id}`}>{instance.instanceID}</Link> },
          { title: 'State', cell: (instance) => <StateBadge state={instance.state} reason={instance.message} tone={instance.state === 'ready' ? 'busy' : undefined} /> },
          { title: 'Tenant', cell: (instance) => instance.tenantID },
          { title: 'Spec', cell: (instance) => instance.specName },
          { title: 'GPUs', cell: (instance) => String(instance.gpus.length) },
        ]}
      />
    </Section>
  );
}

function Foreign({ host }: { host: Host }) {
  const permitted = usePermission('foreign.read');
  const query = useRead('/v1/foreign-workloads', { query: { host: host.id, limit: 100 } }, { kinds: ['foreign-workload'], enabled: permitted });
  if (!query.data?.items.length) return null;
  return (
    <Section title="Foreign workloads" actions={<Link className="plain" href={`/foreign-workloads?host=${encodeURIComponent(host.id)}`}>Decide</Link>}>
      <SmallTable
        label="Foreign workloads"
        rows={query.data.items}
        id={(workload) => workload.id}
        columns={[
          { title: 'Name', cell: (workload) => workload.name || workload.id },
          { title: 'State', cell: (workload) => <StateBadge state={workload.state} /> },
          { title: 'GPUs', cell: (workload) => String(workload.gpus.length) },
          { title: 'Why', cell: (workload) => workload.message },
        ]}
      />
    </Section>
  );
}

const megabits = (bytes?: number) => (bytes === undefined ? '' : `${Number(bytes.toPrecision(3))} Mbit/s`);

function Network({ host }: { host: Host }) {
  if (host.network.length === 0) return null;
  return (
    <Section title="Network to the access points">
      <SmallTable
        label="Network"
        rows={host.network}
        id={(way) => way.accessPoint}
        columns={[
          { title: 'Access point', cell: (way) => way.accessPoint },
          { title: 'Round trip', cell: (way) => (way.roundTripMs === undefined ? '' : `${way.roundTripMs} ms`) },
          { title: 'To the host', cell: (way) => megabits(way.downMbitS) },
          { title: 'From the host', cell: (way) => megabits(way.upMbitS) },
          { title: 'Measured', cell: (way) => way.measuredAt && <Ago time={way.measuredAt} /> },
          { title: 'Problem', cell: (way) => way.problem },
        ]}
      />
    </Section>
  );
}

const drawn = [
  { title: 'CPU', metric: 'host_cpu_busy_percent' },
  { title: 'Memory available', metric: 'host_memory_available_bytes' },
  { title: 'Network, sent', metric: 'host_network_sent_bytes' },
  { title: 'Network, received', metric: 'host_network_received_bytes' },
  { title: 'Disk, free', metric: 'host_disk_free_bytes' },
  { title: 'Load', metric: 'host_load_milli' },
];

export function HostSections({ host }: { host: Host }) {
  return (
    <>
      <Why host={host} />
      <Gpus host={host} />
      <Instances host={host} />
      <Volumes host={host} />
      <Foreign host={host} />
      <Network host={host} />
      <Charts title="Over time" drawn={drawn} where={`host=${host.id}`} />
      <Happened kind="host" id={host.id} />
    </>
  );
}
