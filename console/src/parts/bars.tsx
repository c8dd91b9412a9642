// Bars: parts of a whole, each with a colour, and in words for those who do not see it.
import { Group, Text, Tooltip } from '@mantine/core';

export interface BarPart {
  label: string;
  value: number;
  /** A colour of the theme. */
  color: string;
}

interface Props {
  parts: readonly BarPart[];
  /** The whole; without it the sum of the parts. */
  of?: number;
  label: string;
  /** How a value is written. */
  words: (value: number) => string;
}

function share(value: number, whole: number): number {
  return whole > 0 ? Math.min(100, Math.max(0, (100 * value) / whole)) : 0;
}

export function Bar({ parts, of, label, words }: Props) {
  const whole = of ?? parts.reduce((sum, part) => sum + part.value, 0);
  const text = parts.map((part) => `${part.label} ${words(part.value)}`).join(', ');
  return (
    <Tooltip label={text}>
      <div className="bar" role="img" aria-label={`${label}: ${text}`}>
        {parts.map((part) => (
          <span key={part.label} style={{ width: `${share(part.value, whole)}%`, background: `var(--mantine-color-${part.color}-filled)` }} />
        ))}
      </div>
    </Tooltip>
  );
}

export function Legend({ parts }: { parts: readonly Pick<BarPart, 'label' | 'color'>[] }) {
  return (
    <Group gap="md">
      {parts.map(({ label, color }) => (
        <Group key={label} gap={6} wrap="nowrap">
          <span className="swatch" style={{ background: `var(--mantine-color-${color}-filled)` }} aria-hidden />
          <Text fz="xs" c="dimmed">{label}</Text>
        </Group>
      ))}
    </Group>
  );
}

interface Column {
  /** Below the column, and before its values in words. */
  label: string;
  parts: readonly BarPart[];
}

/** Stacked columns side by side, of one height scale. */
export function Columns({ columns, label, words }: { columns: readonly Column[]; label: string; words: (value: number) => string }) {
  const sum = (column: Column) => column.parts.reduce((total, part) => total + part.value, 0);
  const highest = Math.max(0, ...columns.map(sum));
  return (
    <div className="columns" role="img" aria-label={`${label}: ${columns.length} columns, the highest ${words(highest)}`}>
      {columns.map((column) => (
        <Tooltip key={column.label} label={`${column.label}: ${column.parts.map((part) => `${part.label} ${words(part.value)}`).join(', ')}`}>
          <div>
            {column.parts.map((part) => (
              <span key={part.label} style={{ height: `${share(part.value, highest)}%`, background: `var(--mantine-color-${part.color}-filled)` }} />
            ))}
          </div>
        </Tooltip>
      ))}
    </div>
  );
}
