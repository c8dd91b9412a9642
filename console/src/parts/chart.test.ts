import { expect, test } from 'vitest';
import { wordsFor } from './chart';
import { rangeSeconds } from './range';

test('units of the API are written as people read them', () => {
  expect(wordsFor('mW')(350_000)).toBe('350 W');
  expect(wordsFor('ppm')(500_000)).toBe('50 %');
  expect(wordsFor('1/1000')(5180)).toBe('5.18');
  expect(wordsFor('B/s')(2048)).toBe('2 KiB/s');
  expect(wordsFor('%')(71)).toBe('71 %');
});

test('a range is so many seconds', () => {
  expect(rangeSeconds('-15m')).toBe(900);
  expect(rangeSeconds('-7d')).toBe(604_800);
  expect(rangeSeconds('yesterday')).toBe(3600);
});
