import { expect, it } from 'vitest';
import { csvCell, csvOf } from './download';

it('quotes what has a comma, a quote or a line end', () => {
  expect(csvCell('a,b')).toBe('"a,b"');
  expect(csvCell('say "hi"')).toBe('"say ""hi"""');
  expect(csvCell(undefined)).toBe('');
  expect(csvCell(-3)).toBe('-3');
});

it('disarms formulas', () => {
  expect(csvCell('=HYPERLINK("x")')).toBe(`"'=HYPERLINK(""x"")"`);
  expect(csvCell('@sum')).toBe("'@sum");
});

it('has a line for each row', () => {
  expect(csvOf(['a', 'b'], [{ a: 1, b: 'x' }, { b: 'y' }])).toBe('a,b\r\n1,x\r\n,y\r\n');
});
