import { read } from './client';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('an answer that does not come is told after a minute', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  const told = read('/v1/whoami').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await told).toMatchObject({ sentence: 'The API does not answer.', reason: 'no_answer' });
});
