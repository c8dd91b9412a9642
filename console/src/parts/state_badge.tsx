// Every state has a word, a colour and a shape, from one table.
import { Badge, Tooltip } from '@mantine/core';
import { Circle, CircleAlert, CircleCheck, CircleDashed, CircleDot, CircleX, type LucideIcon } from 'lucide-react';

export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'off';

const tones: Record<Tone, { color: string; shape: LucideIcon }> = {
  ok: { color: 'green', shape: CircleCheck },
  busy: { color: 'blue', shape: CircleDashed },
  warn: { color: 'orange', shape: CircleAlert },
  bad: { color: 'red', shape: CircleX },
  off: { color: 'gray', shape: Circle },
};

const toneWords: Record<Tone, string> = {
  ok: 'running ready healthy available up enabled ok succeeded done admitted instance resolved delivered active completed',
  busy: 'init starting stopping joining preparing creating growing deleting draining testing pulling moving stock waiting attached queued',
  warn: 'degraded cordoned unmeasured quarantined unreachable warning silenced foreign denied lost',
  bad: 'failed faulty gone unresponsive refused critical firing down error',
  off: 'stopped retired drained disabled idle info ended cancelled',
};

const toneOf = new Map<string, Tone>(
  (Object.keys(toneWords) as Tone[]).flatMap((tone) => toneWords[tone].split(' ').map((word) => [word, tone] as const)),
);

/** The tone of a state; a state that the table lacks is shown, too. */
export function stateTone(state: string): Tone {
  return toneOf.get(state) ?? 'off';
}

interface Props {
  state?: string;
  /** Why it is so; shown on hover. */
  reason?: string;
  /** In place of the tone of the table. */
  tone?: Tone;
}

/** A state as word + colour + shape. `ready` of an instance is a start that waits: give `tone="busy"` there. */
export function StateBadge({ state, reason, tone }: Props) {
  if (!state) return <span aria-label="unknown">–</span>;
  const { color, shape: Shape } = tones[tone ?? stateTone(state)];
  const badge = (
    <Badge variant="light" color={color} radius="sm" tt="none" fw={600} leftSection={<Shape size={12} aria-hidden />}>
      {state.replaceAll('_', ' ')}
    </Badge>
  );
  return reason ? <Tooltip label={reason}>{badge}</Tooltip> : badge;
}

/** Marks what computes nothing: simulated hosts, GPUs and instances on them. */
export function SimulatedBadge({ simulated = true }: { simulated?: boolean }) {
  if (!simulated) return null;
  return (
    <Tooltip label="Simulated GPUs compute nothing.">
      <Badge variant="outline" color="violet" radius="sm" leftSection={<CircleDot size={12} aria-hidden />}>
        simulated
      </Badge>
    </Tooltip>
  );
}
