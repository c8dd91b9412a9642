import { expect, it } from 'vitest';
import { claimedParts, costText, groupText, hoursText, percentText, sliceParts } from './usage_words';

it('divides claimed hours without a rest below nothing', () => {
  const line = { labels: {}, gpus: 1, measuredHours: 10, claimedHours: 10, otherHours: 0, freeHours: 0, busyHours: 6, idleHours: 3, unknownHours: 0, energyKwh: 0 };
  expect(claimedParts(line).map(({ value }) => value)).toEqual([6, 1, 3, 0]);
  expect(claimedParts({ ...line, busyHours: 9 })[1]?.value).toBe(0);
});

it('divides GPUs of a part of the time', () => {
  expect(sliceParts({ from: '', gpus: 8, claimed: 6, busy: 3, idle: 2 }).map(({ value }) => value)).toEqual([3, 1, 2, 2]);
});

it('writes figures; unknown is a dash', () => {
  expect(hoursText(1204.4)).toBe('1,204 h');
  expect(hoursText(2.25)).toBe('2.3 h');
  expect(percentText(undefined)).toBe('–');
  expect(costText([])).toBe('–');
  expect(costText([{ amount: '12.5', currency: 'USD' }])).toBe('12.50 USD');
  expect(groupText({ tenant: '', class: 'H100' })).toBe('no tenant · H100');
});
