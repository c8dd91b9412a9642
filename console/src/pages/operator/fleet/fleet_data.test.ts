import { expect, test } from 'vitest';
import type { Schemas } from '../../../api/client';

type Fleet = Schemas['Fleet'];
type FleetColumn = Schemas['FleetColumn'];
import { countsOf, decodeColumn, merged, noFleet, unknownValue, valueOf, valueText, zonesOf } from './fleet_data';

const base64 = (bytes: number[]) => btoa(String.fromCharCode(...bytes));
const column = (name: string, bytes: number[], rest: Partial<FleetColumn> = {}): FleetColumn => ({
  name, words: [], width: 1, step: 1, unit: '', data: base64(bytes), ...rest,
});

const states = ['healthy', 'degraded', 'faulty'];

function answer(rest: Partial<Fleet> = {}): Fleet {
  return {
    at: '2026-11-28T12:00:00Z', cursor: '7-1', whole: true, removed: [],
    hosts: ['h-2', 'h-1'],
    names: ['gpu-10', 'gpu-9'],
    hostColumns: [
      column('zone', [0, 1], { words: ['nj', 'lon'] }),
      column('state', [0, 1], { words: ['ready', 'unreachable'] }),
      column('gpus', [2, 1]),
    ],
    columns: [
      column('state', [0, 2, 1], { words: states }),
      column('power', [14, 255, 20], { step: 5, unit: 'watts' }),
    ],
    ...rest,
  };
}

test('values of one and of two bytes are decoded, the lowest byte first', () => {
  expect([...decodeColumn({ width: 1, data: base64([0, 254, 255]) })]).toEqual([0, 254, unknownValue]);
  expect([...decodeColumn({ width: 2, data: base64([1, 1, 255, 0, 255, 255]) })]).toEqual([257, 255, unknownValue]);
});

test('each host has its part of the columns', () => {
  const data = merged(noFleet, answer());
  const [second, first] = [data.hosts.get('h-2'), data.hosts.get('h-1')];
  expect(second && valueText(data, second, 1, 'state')).toBe('faulty');
  expect(second && valueText(data, second, 0, 'power')).toBe('70 W');
  expect(second && valueText(data, second, 1, 'power')).toBe('–');
  expect(first && valueOf(data, first, 0, 'power')).toBe(100);
  expect(zonesOf(data).map(({ zone, hosts }) => [zone, hosts.map(({ name }) => name)])).toEqual([['lon', ['gpu-9']], ['nj', ['gpu-10']]]);
});

test('counts are of the whole fleet', () => {
  expect(countsOf(merged(noFleet, answer()))).toEqual({
    gpus: 3, hosts: 2,
    gpuStates: new Map([['healthy', 1], ['faulty', 1], ['degraded', 1]]),
    hostStates: new Map([['ready', 1], ['unreachable', 1]]),
  });
});

test('a change replaces its hosts alone, and words keep their numbers whatever an answer numbers them', () => {
  const before = merged(noFleet, answer());
  const change = answer({
    cursor: '7-2', whole: false, hosts: ['h-1'], names: ['gpu-9'], removed: ['h-2'],
    hostColumns: [column('zone', [0], { words: ['lon'] }), column('state', [0], { words: ['ready'] }), column('gpus', [1])],
    columns: [column('state', [0], { words: ['faulty', 'healthy'] }), column('power', [10], { step: 5, unit: 'watts' })],
  });
  const after = merged(before, change);
  expect([...after.hosts.keys()]).toEqual(['h-1']);
  expect(after.words.get('state')).toEqual(states);
  const host = after.hosts.get('h-1');
  expect(host && valueOf(after, host, 0, 'state')).toBe('faulty');
  expect(before.hosts.size).toBe(2);
});

test('an answer of the whole fleet forgets other hosts', () => {
  const data = merged(merged(noFleet, answer()), answer({ hosts: [], names: [], hostColumns: [], columns: [] }));
  expect(data.hosts.size).toBe(0);
});
