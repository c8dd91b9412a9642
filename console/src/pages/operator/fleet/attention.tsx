// GPUs that are not well, each a link to its evidence.
import { Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../../api/client';
import { useRead } from '../../../api/use_read';
import { Section } from '../../../parts/page_frame';
import { StateBadge } from '../../../parts/state_badge';

const shownEach = 4;

function useSick(state: Schemas['Gpu']['state'], zone: string): Schemas['Gpu'][] {
  const query = { state, zone, limit: shownEach };
  return useRead('/v1/gpus', { query }, { kinds: ['gpu', 'host'] }).data?.items ?? [];
}

function SickGpu({ gpu }: { gpu: Schemas['Gpu'] }) {
  return (
    <Group gap="sm" component="li">
      <StateBadge state={gpu.state} />
      <Link className="plain" href={`/gpus/${encodeURIComponent(gpu.id)}`}>{gpu.hostName}, GPU {gpu.index}</Link>
      <Text fz="sm" className="breakable">{gpu.message}</Text>
      {gpu.remedy && <Text fz="sm" c="dimmed">remedy: {gpu.remedy.replaceAll('_', ' ')}</Text>}
    </Group>
  );
}

export function Attention({ zone }: { zone: string }) {
  const faulty = useSick('faulty', zone);
  const unresponsive = useSick('unresponsive', zone);
  const gone = useSick('gone', zone);
  const degraded = useSick('degraded', zone);
  const sick = [...faulty, ...unresponsive, ...gone, ...degraded];
  if (sick.length === 0) return null;
  return (
    <Section title="Needs attention" actions={<Link className="plain" href="/gpus">All GPUs</Link>}>
      <Stack gap="xs" component="ul" className="plain-list">
        {sick.map((gpu) => <SickGpu key={gpu.id} gpu={gpu} />)}
      </Stack>
    </Section>
  );
}
