// The time range of charts, in the URL: ?from=-6h.
import { SegmentedControl } from '@mantine/core';
import { useUrlWord } from './url_state';

const ranges = ['-15m', '-1h', '-6h', '-24h', '-7d'];

/** `since` of /v1/series: "1h". */
export function useRange(): string {
  return useUrlWord('from', '-1h')[0].replace(/^-/, '');
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
