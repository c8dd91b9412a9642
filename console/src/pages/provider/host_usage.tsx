// Use of hosts now: GPUs that are claimed, CPU, memory, disk.
import { Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useRead } from '../../api/use_read';
import { Figure } from '../../parts/figure';
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago } from '../../parts/values';
import { durationText } from '../../parts/words';

const percent = (used?: number, all?: number) => (used === undefined || !all ? undefined : Math.round((100 * used) / all));

function Part({ value, label }: { value?: number; label: string }) {
  if (value === undefined) return null;
  return (
    <Stack gap={2}>
      <Text component="span" fz="xs" className="number">{value} %</Text>
      <Progress value={value} size="sm" aria-label={label} />
    </Stack>
  );
}

const most = 1000;

function Together() {
  const query = useRead('/v1/host-usage', { query: { limit: most } }, { kinds: ['host', 'gpu'], every: 30_000 });
  const hosts = query.data?.items ?? [];
  if (hosts.length === 0) return null;
  const gpus = hosts.reduce((sum, host) => sum + host.gpus, 0);
  const used = hosts.reduce((sum, host) => sum + host.gpusUsed, 0);
  const well = hosts.filter(({ state }) => state === 'ready').length;
  const more = query.data?.nextCursor ? ` of the first ${most}` : '';
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
      <Figure name={`Hosts ready${more}`}>{`${well} of ${hosts.length}`}</Figure>
      <Figure name={`GPUs in use${more}`}>{`${used} of ${gpus}`}</Figure>
      <Figure name="Part of the GPUs in use">{gpus === 0 ? '–' : `${percent(used, gpus)} %`}</Figure>
      <Figure name="Hosts not ready">{String(hosts.length - well)}</Figure>
    </SimpleGrid>
  );
}

export const hostUsage = resource('/v1/host-usage', {
  noun: 'host',
  plural: 'hosts',
  title: 'Use of hosts',
  page: '/hosts',
  kinds: ['host'],
  permission: 'host.read',
  id: (host) => host.id,
  name: (host) => host.name,
  columns: [
    { key: 'name', title: 'Host', value: (host) => host.name },
    { key: 'state', title: 'State', value: (host) => host.state, cell: (host) => <StateBadge state={host.state} />, width: '130px' },
    { key: 'zone', title: 'Zone', value: (host) => host.zone, width: '90px' },
    { key: 'gpus', title: 'GPUs in use', value: (host) => host.gpusUsed, cell: (host) => `${host.gpusUsed} of ${host.gpus}`, width: '120px', align: 'right' },
    { key: 'cpu', title: 'CPU', value: (host) => host.cpuPercent, cell: (host) => <Part value={host.cpuPercent && Math.round(host.cpuPercent)} label={`CPU of ${host.name}`} /> },
    { key: 'memory', title: 'Memory', value: (host) => percent(host.memoryUsedBytes, host.memoryTotalBytes), cell: (host) => <Part value={percent(host.memoryUsedBytes, host.memoryTotalBytes)} label={`Memory of ${host.name}`} /> },
    { key: 'disk', title: 'Disk', value: (host) => percent(host.diskUsedBytes, host.diskTotalBytes), cell: (host) => <Part value={percent(host.diskUsedBytes, host.diskTotalBytes)} label={`Disk of ${host.name}`} /> },
    { key: 'uptime', title: 'Runs for', value: (host) => host.uptimeSeconds, cell: (host) => durationText(host.uptimeSeconds), width: '110px' },
    { key: 'sampled', title: 'Measured', value: (host) => host.sampledAt, cell: (host) => <Ago time={host.sampledAt} />, width: '120px' },
  ],
  filters: [{ name: 'zone', label: 'Zone' }],
  empty: { text: 'The use of hosts appears here when they have joined.', command: 'hostler host token create --zone nj' },
  above: () => <Together />,
  detail: { path: '/v1/hosts/{host}', param: 'host', facts: () => [] },
});
