import { cleanLog } from './logs';

test('of a line that was written over only the last writing is left', () => {
  expect(cleanLog('10%\r50%\r100%\ndone\r\n')).toBe('100%\ndone\n');
});

test('a long line takes no long time', () => {
  const line = 'x'.repeat(1_000_000);
  const begun = Date.now();
  expect(cleanLog(line)).toBe(line);
  expect(Date.now() - begun).toBeLessThan(5000);
});
