import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { Invalidator } from './live';

test('a read that runs is not cancelled by a change, and follows once more', async () => {
  vi.useFakeTimers();
  const cache = new QueryClient();
  let reads = 0;
  const aborted: boolean[] = [];
  const queryFn = async ({ signal }: { signal: AbortSignal }) => {
    reads += 1;
    await new Promise((done) => setTimeout(done, 1500));
    aborted.push(signal.aborted);
    return reads;
  };
  const options = { queryKey: ['list'], queryFn, meta: { kinds: ['host'] }, staleTime: Infinity };
  const stop = new QueryObserver(cache, options).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(100);
  new Invalidator(cache).add('host');
  await vi.advanceTimersByTimeAsync(1200);
  expect(reads).toBe(1);
  await vi.advanceTimersByTimeAsync(4000);
  expect(reads).toBe(2);
  expect(aborted).toEqual([false, false]);
  stop();
  vi.useRealTimers();
});
