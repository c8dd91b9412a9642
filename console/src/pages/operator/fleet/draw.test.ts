import { expect, test } from 'vitest';
import { differing, type Picture } from './draw';
import { type FleetData, type FleetHost, noFleet, unknownValue } from './fleet_data';
import { layoutOf } from './layout';
import { colourings, degradedFlag, faultyFlag, keyOf, placesOf } from './shades';

const host: FleetHost = {
  id: 'h-1', name: 'gpu-1', zone: 'nj', state: 'ready', gpus: 4,
  values: new Map([
    ['state', Uint16Array.of(0, 1, 2, 0)],
    ['utilization', Uint16Array.of(0, 50, 100, unknownValue)],
    ['tenant', Uint16Array.of(1, 1, 0, unknownValue)],
  ]),
};
const data: FleetData = {
  ...noFleet,
  hosts: new Map([['h-1', host]]),
  words: new Map([['state', ['healthy', 'degraded', 'faulty']], ['tenant', ['acme', 'globex']]]),
  measures: new Map([['utilization', { unit: 'percent', step: 1 }]]),
};

const labels = (colouring: (typeof colourings)[number]) => {
  const key = keyOf(data, colouring);
  return [...placesOf(data, [host], colouring, key)].map((place) => key.shades[place & (degradedFlag - 1)]?.label);
};

test('figures fall into classes, names have a shade each, unknown is shown as such', () => {
  expect(labels('utilization')).toEqual(['0 %', '40–59 %', '80 % and more', 'unknown']);
  expect(labels('tenant')).toEqual(['globex', 'globex', 'acme', 'none']);
  expect(labels('state')).toEqual(['healthy', 'degraded', 'faulty', 'healthy']);
});

test('sick GPUs are flagged in every colouring but that of states', () => {
  const flags = [...placesOf(data, [host], 'utilization', keyOf(data, 'utilization'))].map((place) => place & (degradedFlag | faultyFlag));
  expect(flags).toEqual([0, degradedFlag, faultyFlag, 0]);
});

test('shades of one colouring differ in more than their colour', () => {
  for (const colouring of colourings) {
    const shown = keyOf(data, colouring).shades.filter(({ label }) => label !== 'others');
    const signs = shown.map(({ mark, level }) => `${mark} ${level ?? ''}`);
    const plain = signs.filter((sign) => sign === 'none ');
    expect(plain.length).toBeLessThanOrEqual(1);
  }
});

test('a next picture draws only the cells that differ', () => {
  const layout = layoutOf([4], 100, 10);
  const ground = { layout, hosts: [host], shades: [], dark: false };
  const before: Picture = { ...ground, places: Uint8Array.of(0, 1, 2, 3) };
  expect(differing(undefined, before)).toEqual([0, 1, 2, 3]);
  expect(differing(before, { ...before, places: Uint8Array.of(0, 1, 5, 3) })).toEqual([2]);
  expect(differing(before, { ...before, dark: true })).toEqual([0, 1, 2, 3]);
});
