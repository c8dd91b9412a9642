// What happened to an object, and charts of it.
import { Group, SimpleGrid, Text } from '@mantine/core';
import { usePermission } from '../../api/permissions';
import { Chart } from '../../parts/chart';
import { EventList } from '../../parts/event_list';
import { Section } from '../../parts/page_frame';
import { RangePicker } from '../../parts/range';

export function Happened({ kind, id }: { kind: string; id: string }) {
  const permitted = usePermission('event.read');
  if (!permitted) return null;
  return (
    <Section title="Events">
      <EventList path="/v1/events" query={{ kind, id, limit: 50 }} kinds={[kind, 'event']} empty={<Text c="dimmed">Nothing happened to it yet.</Text>} />
    </Section>
  );
}

interface Drawn {
  title: string;
  metric: string;
}

export function Charts({ drawn, where, title }: { drawn: Drawn[]; where: string; title: string }) {
  const permitted = usePermission('gpu.usage');
  if (!permitted) return null;
  return (
    <Section title={title} actions={<Group gap="xs"><RangePicker /></Group>}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {drawn.map((one) => <Chart key={one.metric} title={one.title} metric={one.metric} where={where} />)}
      </SimpleGrid>
    </Section>
  );
}
