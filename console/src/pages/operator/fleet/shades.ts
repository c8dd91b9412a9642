// What a value looks like: a colour and a mark, so that colour is never the only sign.
import { type FleetData, type FleetHost, unknownValue } from './fleet_data';

/** Drawn over the colour. `level` fills a part of the cell from below. */
export type Mark = 'none' | 'dot' | 'slash' | 'backslash' | 'cross' | 'bar' | 'ring' | 'hollow' | 'unknown';

export interface Shade {
  label: string;
  light: string;
  dark: string;
  mark: Mark;
  /** 0 to 1, of figures: how much of the cell is filled. */
  level?: number;
}

export const colourings = ['use', 'state', 'utilization', 'temperature', 'power', 'tenant', 'model'] as const;
export type Colouring = (typeof colourings)[number];

export const unknownShade: Shade = { label: 'unknown', light: '#ffffff', dark: '#1f2229', mark: 'unknown' };

const uses: Record<string, Shade> = {
  idle: { label: 'idle', light: '#eef1f6', dark: '#2b303a', mark: 'hollow' },
  stock: { label: 'stock', light: '#9cc3f5', dark: '#2f5f9e', mark: 'dot' },
  instance: { label: 'instance', light: '#2457d6', dark: '#5b8cff', mark: 'none' },
  foreign: { label: 'foreign', light: '#b98be0', dark: '#8a5cb8', mark: 'slash' },
  cluster: { label: 'cluster', light: '#2fa39a', dark: '#1f7a73', mark: 'bar' },
  unavailable: { label: 'takes nothing new', light: '#c9a58a', dark: '#6e5138', mark: 'backslash' },
};

const states: Record<string, Shade> = {
  healthy: { label: 'healthy', light: '#b7dfc0', dark: '#2c5a3a', mark: 'none' },
  degraded: { label: 'degraded', light: '#f5a524', dark: '#d98a12', mark: 'slash' },
  faulty: { label: 'faulty', light: '#d92d3a', dark: '#f0525d', mark: 'cross' },
  unresponsive: { label: 'unresponsive', light: '#b0307f', dark: '#d45aa5', mark: 'bar' },
  gone: { label: 'gone', light: '#ffffff', dark: '#1f2229', mark: 'ring' },
};

const names: Omit<Shade, 'label'>[] = [
  { light: '#2457d6', dark: '#5b8cff', mark: 'none' }, { light: '#e07b1f', dark: '#f09a4a', mark: 'slash' },
  { light: '#17856b', dark: '#2fb594', mark: 'dot' }, { light: '#a23bb0', dark: '#c86ad4', mark: 'backslash' },
  { light: '#8a6d1a', dark: '#c9a437', mark: 'bar' }, { light: '#c22f5b', dark: '#ea6d92', mark: 'ring' },
  { light: '#3d7a99', dark: '#6fb3d6', mark: 'cross' },
];
const otherNames: Shade = { label: 'others', light: '#8b93a3', dark: '#747c8c', mark: 'none' };
const noName: Shade = { label: 'none', light: '#eef1f6', dark: '#2b303a', mark: 'hollow' };

interface Scale {
  unit: string;
  /** Lower ends of the classes. */
  ends: number[];
}

const scales: Partial<Record<Colouring, Scale>> = {
  utilization: { unit: '%', ends: [0, 1, 20, 40, 60, 80] },
  temperature: { unit: '°C', ends: [0, 40, 55, 65, 75, 85] },
  power: { unit: 'W', ends: [0, 100, 200, 350, 500, 700] },
};

const cool = { light: ['#e6eaf0', '#c6d6f5', '#9db8ef', '#6f95e6', '#4370da', '#1d3fa3'], dark: ['#2c313b', '#2e4470', '#36589b', '#4a75cc', '#6f98ef', '#b0c8ff'] };
const warm = { light: ['#e6eaf0', '#fbe3b3', '#f8c571', '#f09a3c', '#dd6420', '#b3261e'], dark: ['#2c313b', '#5a4520', '#8a6520', '#bf7f22', '#e8792f', '#ff6a57'] };

function shadesOf({ unit, ends }: Scale, ramp: typeof cool): Shade[] {
  return ends.map((from, i) => {
    const to = ends[i + 1];
    const label = to === undefined ? `${from} ${unit} and more` : to - from === 1 ? `${from} ${unit}` : `${from}–${to - 1} ${unit}`;
    return { label, light: ramp.light[i] ?? '', dark: ramp.dark[i] ?? '', mark: i === 0 ? 'hollow' : 'none', level: i / (ends.length - 1) };
  });
}

/** The shades of a colouring, and for each number of its column the place among them. */
export interface Key {
  shades: Shade[];
  place: (number: number) => number;
}

function keyOfWords(words: string[], table: Record<string, Shade>): Key {
  const shades = [...words.map((word) => table[word] ?? { ...otherNames, label: word }), unknownShade];
  return { shades, place: (number) => Math.min(number, words.length) };
}

function keyOfScale(scale: Scale, ramp: typeof cool, step: number): Key {
  const shades = [...shadesOf(scale, ramp), unknownShade];
  const place = (number: number) =>
    number === unknownValue ? shades.length - 1 : Math.max(0, scale.ends.findLastIndex((end) => number * step >= end));
  return { shades, place };
}

function frequent(data: FleetData, column: string): number[] {
  const counts = new Map<number, number>();
  for (const host of data.hosts.values())
    for (const number of host.values.get(column) ?? []) counts.set(number, (counts.get(number) ?? 0) + 1);
  counts.delete(unknownValue);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, names.length).map(([number]) => number).sort((a, b) => a - b);
}

/** The names with the most GPUs have shades; all others share one. */
function keyOfNames(data: FleetData, column: string): Key {
  const words = data.words.get(column) ?? [];
  const own = frequent(data, column);
  const named = own.map((number, i) => ({ ...(names[i] ?? otherNames), label: words[number] ?? '' }));
  const places = new Map(own.map((number, i) => [number, i]));
  const last = named.length;
  return {
    shades: [...named, noName, ...(words.length > named.length ? [otherNames] : [])],
    place: (number) => (number === unknownValue ? last : (places.get(number) ?? last + 1)),
  };
}

export function keyOf(data: FleetData, colouring: Colouring): Key {
  const scale = scales[colouring];
  if (scale) return keyOfScale(scale, colouring === 'utilization' ? cool : warm, data.measures.get(colouring)?.step ?? 1);
  if (colouring === 'use') return keyOfWords(data.words.get('use') ?? [], uses);
  if (colouring === 'state') return keyOfWords(data.words.get('state') ?? [], states);
  return keyOfNames(data, colouring);
}

/** Added to the place of a cell whose GPU is degraded, or worse; its corner shows it in every colouring. */
export const degradedFlag = 64;
export const faultyFlag = 128;

function flagsOf(data: FleetData): (number: number) => number {
  const words = data.words.get('state') ?? [];
  const flags = words.map((word) => (word === 'healthy' ? 0 : word === 'degraded' ? degradedFlag : faultyFlag));
  return (number) => flags[number] ?? 0;
}

/** The shade of each cell of these hosts, in the order of the layout's cells, with its flag. */
export function placesOf(data: FleetData, hosts: FleetHost[], colouring: Colouring, key: Key): Uint8Array {
  const places = new Uint8Array(hosts.reduce((sum, host) => sum + host.gpus, 0));
  const flag = colouring === 'state' ? () => 0 : flagsOf(data);
  let at = 0;
  for (const host of hosts) {
    const numbers = host.values.get(colouring);
    const states = host.values.get('state');
    for (let gpu = 0; gpu < host.gpus; gpu += 1)
      places[at++] = key.place(numbers?.[gpu] ?? unknownValue) + flag(states?.[gpu] ?? unknownValue);
  }
  return places;
}
