// GPUs: health, evidence, the way back to service.
import { Group, List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { useRead } from '../../api/use_read';
import { Section } from '../../parts/page_frame';
import { resource } from '../../parts/resource';
import { SimulatedBadge, StateBadge } from '../../parts/state_badge';
import { AsyncView } from '../../parts/states';
import { Ago, Bytes, type Fact, Facts, Id } from '../../parts/values';
import { InstanceName } from '../user/instance_name';
import { Charts, Happened } from './happened';
import { SmallTable } from './small_table';

type Gpu = Schemas['Gpu'];
type Why = Schemas['GpuExplanation'];

const measured = (value: number | undefined, unit: string) => (value === undefined ? undefined : `${Number(value.toPrecision(4))} ${unit}`);

function Evidence({ why }: { why: Why }) {
  if (why.evidence.length === 0) return <Text c="dimmed">No fault is known of it.</Text>;
  return (
    <SmallTable
      label="Evidence"
      rows={why.evidence}
      id={(fault) => `${fault.kind} ${fault.code} ${fault.firstAt}`}
      columns={[
        { title: 'Source', cell: (fault) => `${fault.kind} ${fault.code || ''}` },
        { title: 'Description', cell: (fault) => fault.message },
        { title: 'Implies', cell: (fault) => <StateBadge state={fault.state} /> },
        { title: 'Count', cell: (fault) => String(fault.count) },
        { title: 'First', cell: (fault) => <Ago time={fault.firstAt} /> },
        { title: 'Last', cell: (fault) => <Ago time={fault.lastAt} /> },
        { title: 'Remedy', cell: (fault) => fault.remedy.replaceAll('_', ' ') },
      ]}
    />
  );
}

function Health({ why }: { why: Why }) {
  return (
    <Stack gap="xs">
      <Text>{why.sentence} {why.since && <Text span c="dimmed">Since <Ago time={why.since} />.</Text>}</Text>
      {why.wouldHelp && <Text><b>Remedy:</b> {why.wouldHelp}</Text>}
      {why.wayBack && <Text><b>Way back:</b> {why.wayBack}</Text>}
      {why.testingUntil && <Text><b>Test:</b> it takes work again if it stays well; the test ends <Ago time={why.testingUntil} />.</Text>}
      {why.running.length > 0 && (
        <Text>
          <b>Running on it:</b>{' '}
          {why.running.map((id) => <InstanceName key={id} id={id} />)}
        </Text>
      )}
    </Stack>
  );
}

function Explained({ gpu }: { gpu: Gpu }) {
  const query = useRead('/v1/gpus/{gpu}/explain', { params: { gpu: gpu.id } }, { kinds: ['gpu', 'host'] });
  return (
    <>
      <Section title="Health"><AsyncView query={query} lines={2}>{(why) => <Health why={why} />}</AsyncView></Section>
      <Section title="Evidence"><AsyncView query={query}>{(why) => <Evidence why={why} />}</AsyncView></Section>
    </>
  );
}

function Measured({ gpu }: { gpu: Gpu }) {
  return (
    <Section title="Measured">
      <Stack gap="sm">
        <Group gap="xs"><Text fz="sm">Verdict</Text><StateBadge state={gpu.verdict} tone={gpu.verdict === 'as_expected' ? 'ok' : gpu.verdict === 'unrated' ? 'off' : 'bad'} /></Group>
        {gpu.evidence.length > 0 && <List size="sm">{gpu.evidence.map((line) => <List.Item key={line}>{line}</List.Item>)}</List>}
        <Facts
          facts={[
            { name: 'Memory copy', value: measured(gpu.memoryCopyGbS, 'GB/s') },
            { name: 'fp32', value: measured(gpu.fp32Tflops, 'TFLOPS') },
            { name: 'Matrix units, bf16', value: measured(gpu.tensorTflops, 'TFLOPS') },
            { name: 'Host to GPU', value: measured(gpu.hostToGpuGbS, 'GB/s') },
            { name: 'GPU to host', value: measured(gpu.gpuToHostGbS, 'GB/s') },
            { name: 'Tier', value: gpu.tier },
          ]}
        />
      </Stack>
    </Section>
  );
}

function Slices({ gpu }: { gpu: Gpu }) {
  if (gpu.slices.length === 0) return null;
  return (
    <Section title="Slices">
      <SmallTable
        label="Slices"
        rows={gpu.slices}
        id={(slice) => slice.id}
        columns={[
          { title: 'Profile', cell: (slice) => slice.profile },
          { title: 'Memory', cell: (slice) => <Bytes value={slice.memoryBytes} /> },
          { title: 'In use', cell: (slice) => <Bytes value={slice.memoryUsedBytes} /> },
          { title: 'Active', cell: (slice) => measured(slice.activePercent, '%') },
        ]}
      />
    </Section>
  );
}

const holder = (gpu: Gpu) => (gpu.holder ? `${gpu.use} ${gpu.holder}` : gpu.use);

function facts(gpu: Gpu): Fact[] {
  return [
    { name: 'Id', value: <Id value={gpu.id} /> },
    { name: 'Host', value: <Link className="plain" href={`/hosts/${encodeURIComponent(gpu.host)}`}>{gpu.hostName}</Link> },
    { name: 'Zone', value: gpu.zone },
    { name: 'Model', value: gpu.model },
    { name: 'Memory', value: <Bytes value={gpu.memoryBytes} /> },
    { name: 'Held by', value: holder(gpu) },
    { name: 'Pod', value: gpu.pod ? `${gpu.podNamespace}/${gpu.pod}` : undefined },
    { name: 'Container', value: gpu.container || undefined },
    { name: 'Use now', value: measured(gpu.utilizationPercent, '%') },
    { name: 'Temperature', value: measured(gpu.temperatureCelsius, '°C') },
    { name: 'Power', value: measured(gpu.powerWatts, 'W') },
    { name: 'Memory in use', value: gpu.memoryUsedBytes === undefined ? undefined : <Bytes value={gpu.memoryUsedBytes} /> },
  ];
}

function Device({ gpu }: { gpu: Gpu }) {
  const device: Fact[] = [
    { name: 'PCI address', value: gpu.pciAddress },
    { name: 'Link', value: gpu.pcieGeneration > 0 ? `PCIe ${gpu.pcieGeneration} ×${gpu.pcieWidth}` : undefined },
    { name: 'NUMA node', value: gpu.numaNode < 0 ? undefined : String(gpu.numaNode) },
    { name: 'Serial number', value: gpu.serialNumber },
    { name: 'Driver', value: gpu.driverVersion },
    { name: 'MIG', value: gpu.mig },
  ];
  return <Section title="Device"><Facts facts={device} /></Section>;
}

const drawn = [
  { title: 'Use', metric: 'gpu_utilization_percent' },
  { title: 'Memory in use', metric: 'gpu_memory_used_bytes' },
  { title: 'Temperature', metric: 'gpu_temperature_celsius' },
  { title: 'Power', metric: 'gpu_power_mw' },
  { title: 'Clock', metric: 'gpu_clock_sm_mhz' },
  { title: 'Memory errors, uncorrected', metric: 'gpu_ecc_uncorrected' },
];

export const gpus = resource('/v1/gpus', {
  noun: 'GPU',
  plural: 'GPUs',
  title: 'GPUs',
  page: '/gpus',
  kinds: ['gpu', 'host'],
  permission: 'gpu.read',
  id: (gpu) => gpu.id,
  name: (gpu) => `${gpu.hostName}, GPU ${gpu.index}`,
  columns: [
    { key: 'name', title: 'GPU', value: (gpu) => `${gpu.hostName}, GPU ${gpu.index}`, width: '140px' },
    { key: 'state', title: 'State', value: (gpu) => gpu.state, cell: (gpu) => <StateBadge state={gpu.state} reason={gpu.message} />, width: '130px' },
    { key: 'remedy', title: 'Remedy', value: (gpu) => gpu.remedy.replaceAll('_', ' '), width: '130px' },
    { key: 'use', title: 'Held by', value: (gpu) => (gpu.pod ? `pod ${gpu.podNamespace}/${gpu.pod}` : holder(gpu)) },
    { key: 'model', title: 'Model', value: (gpu) => gpu.model, width: '160px' },
    { key: 'utilization', title: 'Use', value: (gpu) => gpu.utilizationPercent, cell: (gpu) => measured(gpu.utilizationPercent, '%'), width: '70px', align: 'right' },
    { key: 'temperature', title: 'Temp.', value: (gpu) => gpu.temperatureCelsius, cell: (gpu) => measured(gpu.temperatureCelsius, '°C'), width: '80px', align: 'right' },
    { key: 'power', title: 'Power', value: (gpu) => gpu.powerWatts, cell: (gpu) => measured(gpu.powerWatts && Math.round(gpu.powerWatts), 'W'), width: '80px', align: 'right' },
    { key: 'zone', title: 'Zone', value: (gpu) => gpu.zone, width: '70px', wideOnly: true },
    { key: 'simulated', title: 'Kind', value: (gpu) => (gpu.simulated ? 'simulated' : 'real'), cell: (gpu) => (gpu.simulated ? <SimulatedBadge /> : 'real'), width: '140px' },
  ],
  filters: [
    { name: 'state', label: 'State', values: ['healthy', 'degraded', 'faulty', 'unresponsive', 'gone'] },
    { name: 'use', label: 'Held by', values: ['idle', 'stock', 'instance', 'foreign', 'cluster'] },
    { name: 'zone', label: 'Zone' },
    { name: 'host', label: 'Host' },
  ],
  empty: { text: 'GPUs appear here when their hosts have joined.', command: 'hostler host token create --zone nj' },
  actions: [
    {
      label: 'Return to service',
      method: 'POST',
      path: '/v1/gpus/{gpu}/return',
      params: (gpu) => ({ gpu: gpu.id }),
      permission: 'host.admit',
      command: 'gpu return',
      plan: (gpu) =>
        gpu.state === 'gone'
          ? 'The GPU is forgotten. If its host counts it again, it is known as another one.'
          : 'The GPU is tested: five quiet minutes, then the benchmark once it is unused. If it is well, it takes work again.',
      done: 'The GPU is on its way back.',
      when: (gpu) => gpu.state !== 'healthy',
    },
  ],
  detail: {
    path: '/v1/gpus/{gpu}',
    param: 'gpu',
    badges: (gpu) => <Group gap="xs"><StateBadge state={gpu.state} reason={gpu.message} /><SimulatedBadge simulated={gpu.simulated} /></Group>,
    facts,
    sections: (gpu) => (
      <>
        <Explained gpu={gpu} />
        <Measured gpu={gpu} />
        <Device gpu={gpu} />
        <Slices gpu={gpu} />
        <Charts title="Over time" drawn={drawn} where={`gpu=${gpu.id}`} />
        <Happened kind="gpu" id={gpu.id} />
      </>
    ),
  },
});
