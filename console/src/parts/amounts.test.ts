import { describe, expect, it } from 'vitest';
import { amountOf, fractionUsed, limitOf, limitText, sharesOf } from './amounts';

it('reads amounts', () => {
  expect(amountOf('8')).toBe(8);
  expect(amountOf('512Gi')).toBe(512 * 2 ** 30);
  expect(amountOf('500m')).toBe(0.5);
  expect(amountOf('many')).toBeNaN();
});

it('compares what is used with its limit', () => {
  expect(fractionUsed({ used: '512Mi', limit: '1Gi' })).toBe(0.5);
  expect(fractionUsed({ used: '9', limit: '8' })).toBe(1);
  expect(fractionUsed({ used: '0', limit: '0' })).toBeUndefined();
});

describe('shares', () => {
  it('divides use into guaranteed and borrowed', () => {
    expect(sharesOf({ limit: '6', guaranteed: '2', used: '5' })).toEqual({ own: 2, borrowed: 3, limit: 6, guaranteed: 2, over: false });
    expect(sharesOf({ limit: '6', guaranteed: '2', used: '1' })).toMatchObject({ own: 1, borrowed: 0 });
  });
  it('has nothing borrowed where nothing is guaranteed, and knows what exceeds the limit', () => {
    expect(sharesOf({ limit: '4', guaranteed: '0', used: '5' })).toEqual({ own: 5, borrowed: 0, limit: 4, guaranteed: 0, over: true });
  });
});

it('reads limits as the command line writes them, and writes them back', () => {
  for (const text of ['gpus=8,guaranteed=2', 'gpus:H100=4', 'memory=512Gi']) expect(limitText(limitOf(text))).toBe(text);
  expect(limitText({ resource: 'gpus', limit: '8', guaranteed: '0' })).toBe('gpus=8');
  expect(limitOf('gpus')).toEqual({ resource: 'gpus', limit: '' });
});
