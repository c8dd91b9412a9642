// The time range of charts, in the URL: ?from=-6h.
import { SegmentedControl } from '@mantine/core';
import { useUrlWord } from './url_state';

const ranges = ['-15m', '-1h', '-6h', '-24h', '-7d'];

const seconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** "-6h" in seconds; a text that is no range counts as an hour. */
export function rangeSeconds(text: string): number {
  const [, count, unit] = /^-(\d{1,4})([smhd])$/.exec(text) ?? [];
  return count && unit ? Number(count) * (seconds[unit] ?? 0) : 3600;
}

/** `since` of /v1/series. */
export function useRange(): number {
  return rangeSeconds(useUrlWord('from', '-1h')[0]);
}

export function RangePicker() {
  const [value, setValue] = useUrlWord('from', '-1h');
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time range"
      value={value}
      onChange={setValue}
      data={ranges.map((range) => ({ value: range, label: range.slice(1) }))}
    />
  );
}
