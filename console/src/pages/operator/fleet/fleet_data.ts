// The fleet as the page keeps it: answers of /v1/fleet decoded, and changes merged into what is known.
import type { Schemas } from '../../../api/client';

type Fleet = Schemas['Fleet'];
type FleetColumn = Schemas['FleetColumn'];

/** Of a value that is not known. */
export const unknownValue = 0xffff;

export interface FleetHost {
  id: string;
  name: string;
  zone: string;
  state: string;
  gpus: number;
  /** By column; numbers are words of the vocabulary, or figures without their step. */
  values: Map<string, Uint16Array>;
}

interface Measure {
  unit: string;
  step: number;
}

export interface FleetData {
  at: string;
  cursor: string;
  hosts: Map<string, FleetHost>;
  /** Words of each column. An answer numbers its own; here a word keeps its number. */
  words: Map<string, string[]>;
  measures: Map<string, Measure>;
}

export const noFleet: FleetData = { at: '', cursor: '', hosts: new Map(), words: new Map(), measures: new Map() };

/** The numbers of a column; unknown in every width is `unknownValue`. */
export function decodeColumn({ data, width }: Pick<FleetColumn, 'data' | 'width'>): Uint16Array {
  const bytes = atob(data);
  const count = Math.floor(bytes.length / width);
  const numbers = new Uint16Array(count);
  for (let i = 0; i < count; i += 1) {
    const low = bytes.charCodeAt(i * width);
    const all = width === 2 ? low + 256 * bytes.charCodeAt(i * width + 1) : low;
    numbers[i] = width === 1 && all === 255 ? unknownValue : all;
  }
  return numbers;
}

/** Numbers of `column` by the vocabulary that is kept, which grows by words that are new. */
function translated(column: FleetColumn, words: Map<string, string[]>): Uint16Array {
  const numbers = decodeColumn(column);
  if (column.words.length === 0) return numbers;
  const kept = words.get(column.name) ?? [];
  words.set(column.name, kept);
  const map = column.words.map((word) => {
    const known = kept.indexOf(word);
    return known >= 0 ? known : kept.push(word) - 1;
  });
  return numbers.map((number) => map[number] ?? unknownValue);
}

function wordsOfHosts(answer: Fleet, name: string): string[] {
  const column = answer.hostColumns.find((one) => one.name === name);
  if (!column) return answer.hosts.map(() => '');
  return Array.from(decodeColumn(column), (number) => column.words[number] ?? '');
}

function gpusOfHosts(answer: Fleet): Uint16Array {
  const column = answer.hostColumns.find((one) => one.name === 'gpus');
  return column ? decodeColumn(column) : new Uint16Array(answer.hosts.length);
}

/** What is known after `answer`. `before` is left as it is. */
export function merged(before: FleetData, answer: Fleet): FleetData {
  const words = new Map(Array.from(before.words, ([name, list]) => [name, [...list]]));
  const hosts = answer.whole ? new Map<string, FleetHost>() : new Map(before.hosts);
  const columns = answer.columns.map((column) => ({ name: column.name, numbers: translated(column, words) }));
  const zones = wordsOfHosts(answer, 'zone');
  const states = wordsOfHosts(answer, 'state');
  const gpus = gpusOfHosts(answer);
  let first = 0;
  answer.hosts.forEach((id, i) => {
    const count = gpus[i] ?? 0;
    const values = new Map(columns.map(({ name, numbers }) => [name, numbers.subarray(first, first + count)]));
    hosts.set(id, { id, name: answer.names[i] ?? id, zone: zones[i] ?? '', state: states[i] ?? '', gpus: count, values });
    first += count;
  });
  for (const id of answer.removed) hosts.delete(id);
  const measures = new Map(answer.columns.map(({ name, unit, step }) => [name, { unit, step }]));
  return { at: answer.at, cursor: answer.cursor, hosts, words, measures };
}

/** The word or the figure of a GPU's value; undefined: unknown. */
export function valueOf(data: FleetData, host: FleetHost, gpu: number, column: string): string | number | undefined {
  const number = host.values.get(column)?.[gpu];
  if (number === undefined || number === unknownValue) return undefined;
  const words = data.words.get(column);
  return words ? words[number] : number * (data.measures.get(column)?.step ?? 1);
}

const signs: Record<string, string> = { percent: '%', celsius: '°C', watts: 'W' };

export function valueText(data: FleetData, host: FleetHost, gpu: number, column: string): string {
  const value = valueOf(data, host, gpu, column);
  if (value === undefined) return '–';
  const unit = data.measures.get(column)?.unit ?? '';
  return typeof value === 'number' ? `${value} ${signs[unit] ?? unit}`.trim() : value;
}

interface FleetCounts {
  gpus: number;
  hosts: number;
  gpuStates: Map<string, number>;
  hostStates: Map<string, number>;
}

const silent = new Set(['unreachable', 'lost']);
const draining = new Set(['draining', 'drained']);

export const isSilent = (host: FleetHost) => silent.has(host.state);
export const isDraining = (host: FleetHost) => draining.has(host.state);

/** By state, as the lists filter. */
export function countsOf(data: FleetData): FleetCounts {
  const words = data.words.get('state') ?? [];
  const counts: FleetCounts = { gpus: 0, hosts: data.hosts.size, gpuStates: new Map(), hostStates: new Map() };
  const add = (to: Map<string, number>, state: string) => to.set(state, (to.get(state) ?? 0) + 1);
  for (const host of data.hosts.values()) {
    counts.gpus += host.gpus;
    add(counts.hostStates, host.state);
    for (const number of host.values.get('state') ?? []) add(counts.gpuStates, words[number] ?? '');
  }
  return counts;
}

const byName = new Intl.Collator('en', { numeric: true });

/** Hosts by zone, both in the order of their names. */
export function zonesOf(data: FleetData): { zone: string; hosts: FleetHost[] }[] {
  const zones = new Map<string, FleetHost[]>();
  for (const host of data.hosts.values()) {
    const hosts = zones.get(host.zone);
    if (hosts) hosts.push(host);
    else zones.set(host.zone, [host]);
  }
  return [...zones]
    .sort(([a], [b]) => byName.compare(a, b))
    .map(([zone, hosts]) => ({ zone, hosts: hosts.sort((a, b) => byName.compare(a.name, b.name)) }));
}
