// The drawing of a chart, loaded when one is shown.
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

interface ChartLine {
  label: string;
  /** A value for each step; null: there was no sample. */
  values: (number | null)[];
}

export interface ChartData {
  /** Seconds. */
  times: number[];
  lines: ChartLine[];
  /** A value as words, for the axis and the legend. */
  words: (value: number) => string;
  /** Top of the axis at least. */
  atLeast?: number;
}

const colors = ['#2457d6', '#d9480f', '#2b8a3e', '#9c36b5', '#0c8599', '#c2255c', '#5f3dc4', '#846358'];
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

// Step in seconds, its format, and the second line where a year, a day or a minute begins.
const times: uPlot.Axis.Values = [
  [86_400, '{MM}-{DD}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{YYYY}-{MM}-{DD}', null, '\n{MM}-{DD}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{YYYY}-{MM}-{DD}', null, '\n{MM}-{DD}', null, null, null, 1],
];

/** Width of the axis in pixels, by its longest label. */
const roomFor = (_: uPlot, words: string[] | null) => 30 + 7 * Math.max(4, ...(words ?? []).map(({ length }) => length));

function axes(dark: boolean, words: ChartData['words']): uPlot.Axis[] {
  const stroke = dark ? '#a6a7ab' : '#5c5f66';
  const grid = { stroke: dark ? '#2e3138' : '#e9ecef', width: 1 };
  return [
    { stroke, grid, values: times },
    { stroke, grid, size: roomFor, values: (_, values) => values.map(words) },
  ];
}

function options(data: ChartData, width: number, dark: boolean): uPlot.Options {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? '–' : data.words(value));
  return {
    width,
    height: 180,
    cursor: { sync: { key: 'charts' } },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 0, data.atLeast ?? 0) * 1.05 || 1] } },
    axes: axes(dark, data.words),
    series: [
      { value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' },
      ...data.lines.map((line, index) => ({
        label: line.label,
        stroke: colors[index % colors.length],
        dash: dashes[Math.floor(index / colors.length) % dashes.length],
        width: 1.5,
        points: { show: false },
        value: (_: uPlot, value: number | null) => text(value),
      })),
    ],
  };
}

export default function ChartView({ data, label }: { data: ChartData; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme() === 'dark';
  useEffect(() => {
    const at = box.current;
    if (!at) return undefined;
    const columns: uPlot.AlignedData = [data.times, ...data.lines.map((line) => line.values)];
    const chart = new uPlot(options(data, at.clientWidth, dark), columns, at);
    const size = new ResizeObserver(() => chart.setSize({ width: at.clientWidth, height: 180 }));
    size.observe(at);
    return () => {
      size.disconnect();
      chart.destroy();
    };
  }, [data, dark]);
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}
