// A chart of a metric of /v1/series: `<Chart title="GPU use" metric="gpu_utilization_percent" where="workload=nb-1" />`.
import { Group, Text, Title } from '@mantine/core';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Suspense, useMemo } from 'react';
import { type Query, read, type Schemas } from '../api/client';
import type { Problem } from '../api/problem';
import { Turns } from '../api/turns';
import type { ChartData } from './chart_view';
import { lazily } from './lazily';
import { useRange } from './range';
import { AsyncView, Loading } from './states';
import { bytesText } from './words';

const View = lazily(() => import('./chart_view'));

interface Props {
  title: string;
  metric: string;
  /** "workload=nb-1 tenant=acme" */
  where?: string;
  by?: string;
  across?: string;
  over?: string;
  top?: number;
}

/** Figures of the API's units as people read them: 350 W, not 350000 mW. */
const scaled: Record<string, [number, string]> = {
  mW: [1000, 'W'], mJ: [1000, 'J'], '1/1000': [1000, ''], ppm: [10_000, '%'], 'ms/s': [1000, 'CPU'],
};

export function wordsFor(unit: string): (value: number) => string {
  if (unit === 'B') return bytesText;
  if (unit === 'B/s') return (value) => `${bytesText(value)}/s`;
  const [by, sign] = scaled[unit] ?? [1, unit];
  return (value) => `${Number((value / by).toPrecision(3))} ${sign}`.trim();
}

function lineLabel(labels: Record<string, string>, metric: string): string {
  const { gpu, host_name: host, workload, device, index, ...rest } = labels;
  // The device of an instance is its id, which is shown already.
  return [workload, host, gpu ?? index ?? (workload ? undefined : device)].filter(Boolean).join(' ') || Object.values(rest).filter(Boolean).join(' ') || metric;
}

/** Columns for the chart. Times are those of the steps, from the beginning of the answer. */
function chartData(answer: Schemas['SeriesAnswer']): ChartData {
  const steps = Math.max(0, ...answer.lines.map((line) => line.values.length));
  const begin = Date.parse(answer.from) / 1000;
  return {
    times: Array.from({ length: steps }, (_, index) => begin + index * answer.step),
    lines: answer.lines.map((line) => ({ label: lineLabel(line.labels, answer.metric), values: line.values })),
    words: wordsFor(answer.unit),
    atLeast: answer.unit === '%' || answer.unit === 'percent' ? 100 : undefined,
  };
}

function Drawing({ answer, title }: { answer: Schemas['SeriesAnswer']; title: string }) {
  const data = useMemo(() => chartData(answer), [answer]);
  return <View data={data} label={`${title} over time`} />;
}

// A tenant is answered two series at once; a third is refused with 429.
const turns = new Turns(2);
const busy = 429;

function useSeries(query: Query): UseQueryResult<Schemas['SeriesAnswer'], Problem> {
  return useQuery<Schemas['SeriesAnswer'], Problem>({
    queryKey: ['/v1/series', query],
    queryFn: ({ signal }) => turns.run(() => read('/v1/series', { query, signal })),
    refetchInterval: 15_000,
    retry: (count, problem) => problem.status === busy && count < 5,
    retryDelay: 1000,
  });
}

export function Chart({ title, metric, where, by, across, over, top = 8 }: Props) {
  const since = useRange();
  const query = useSeries({ metric, where, by, across, over, top, since });
  return (
    <div className="tile">
      <Group justify="space-between"><Title order={3}>{title}</Title></Group>
      <AsyncView
        query={query}
        isEmpty={(answer) => answer.lines.length === 0}
        empty={<Text c="dimmed" py="lg">No samples in this time.</Text>}
      >
        {(answer) => (
          <Suspense fallback={<Loading />}>
            <Drawing answer={answer} title={title} />
          </Suspense>
        )}
      </AsyncView>
    </div>
  );
}
