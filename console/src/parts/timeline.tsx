import { Code, Text, Timeline as MantineTimeline } from '@mantine/core';
import type { Schemas } from '../api/client';
import { Ago } from './values';
import { durationText } from './words';

type Event = Schemas['Event'];

function after(events: Event[], index: number): string {
  const before = events[index - 1];
  const own = events[index];
  if (!before || !own) return '';
  return `+${durationText((Date.parse(own.time) - Date.parse(before.time)) / 1000)}`;
}

/** Events in the order in which they came, the newest first, with the time since the one before. */
export function Timeline({ events }: { events: Event[] }) {
  const rising = [...events].sort((a, b) => a.number - b.number);
  return (
    <MantineTimeline bulletSize={14} lineWidth={2}>
      {rising.map((event, index) => (
        <MantineTimeline.Item key={`${event.number} ${index}`} title={<Code>{event.reason}</Code>}>
          <Text fz="sm" className="breakable">{event.message}</Text>
          <Text fz="xs" c="dimmed">
            <Ago time={event.time} /> · {event.actor} <span className="number">{after(rising, index)}</span>
          </Text>
        </MantineTimeline.Item>
      )).reverse()}
    </MantineTimeline>
  );
}
