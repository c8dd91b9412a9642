// A chart of a metric of /v1/series: `<Chart title="GPU use" metric="gpu_utilization" where="workload=nb-1" />`.
import { Group, Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import type { Schemas } from '../api/client';
import { useRead } from '../api/use_read';
import type { ChartData } from './chart_view';
import { useRange } from './range';
import { AsyncView, Loading } from './states';
import { bytesText } from './words';

const View = lazy(() => import('./chart_view'));

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

const signs: Record<string, string> = { percent: '%', watts: 'W', celsius: '°C', seconds: 's', joules: 'J', megahertz: 'MHz' };

export function wordsFor(unit: string): (value: number) => string {
  if (unit === 'bytes') return bytesText;
  if (unit === 'bytes/s') return (value) => `${bytesText(value)}/s`;
  const sign = signs[unit] ?? unit;
  return (value) => `${Number(value.toPrecision(4))} ${sign}`.trim();
}

function lineLabel(labels: Record<string, string>, metric: string): string {
  const { gpu, host_name: host, workload, device, index, ...rest } = labels;
  return [workload, host, gpu ?? index ?? device].filter(Boolean).join(' ') || Object.values(rest).filter(Boolean).join(' ') || metric;
}

/** Columns for the chart. Times are those of the steps, from the beginning of the answer. */
export function chartData(answer: Schemas['SeriesAnswer']): ChartData {
  const steps = Math.max(0, ...answer.lines.map((line) => line.values.length));
  const begin = Date.parse(answer.from) / 1000;
  return {
    times: Array.from({ length: steps }, (_, index) => begin + index * answer.step),
    lines: answer.lines.map((line) => ({ label: lineLabel(line.labels, answer.metric), values: line.values })),
    words: wordsFor(answer.unit),
    atLeast: answer.unit === 'percent' ? 100 : undefined,
  };
}

function Drawing({ answer, title }: { answer: Schemas['SeriesAnswer']; title: string }) {
  const data = useMemo(() => chartData(answer), [answer]);
  return <View data={data} label={`${title} over time`} />;
}

export function Chart({ title, metric, where, by, across, over, top = 8 }: Props) {
  const since = useRange();
  const query = useRead('/v1/series', { query: { metric, where, by, across, over, top, since } }, { every: 15_000 });
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
