import { describe, expect, it } from 'vitest';
import { bodyOf, durationOf, initialValues } from './form_values';
import type { FormField } from './resource';

describe('durations', () => {
  it('takes units and sums of them', () => {
    expect(durationOf('90')).toBe(90);
    expect(durationOf('2h')).toBe(7200);
    expect(durationOf('1d 12h')).toBe(129_600);
    expect(durationOf('1h30m')).toBe(5400);
  });
  it('leaves to the API what is no duration', () => {
    expect(durationOf('soon')).toBe('soon');
    expect(durationOf('3 fortnights')).toBe('3 fortnights');
  });
});

describe('bodies', () => {
  const body = (field: FormField, value: unknown) => bodyOf([field], { [field.name]: value });
  it('sends a flag that has an initial value, whatever it is', () => {
    expect(body({ name: 'on', label: '', kind: 'flag', initial: true }, false)).toEqual({ on: false });
    expect(body({ name: 'on', label: '', kind: 'flag' }, false)).toEqual({});
  });
  it('sends what was emptied, not what was empty', () => {
    expect(body({ name: 'email', label: '', initial: 'a@b' }, '')).toEqual({ email: '' });
    expect(body({ name: 'email', label: '' }, '')).toEqual({});
    expect(body({ name: 'zones', label: '', kind: 'words', initial: ['nj'] }, [])).toEqual({ zones: [] });
    expect(body({ name: 'trust', label: '', kind: 'choice', initial: 'trusted' }, '')).toEqual({ trust: '' });
    expect(body({ name: 'trust', label: '', kind: 'choice', initial: 'trusted' }, null)).toEqual({ trust: '' });
    expect(body({ name: 'trust', label: '', kind: 'choice' }, null)).toEqual({});
  });
  it('reads lists and flags from the words of an address', () => {
    const fields: FormField[] = [{ name: 'a', label: '', kind: 'words' }, { name: 'b', label: '', kind: 'flag' }];
    expect(initialValues(fields, { a: 'x=1,y=2', b: 'true' })).toEqual({ a: ['x=1', 'y=2'], b: true });
  });
});
