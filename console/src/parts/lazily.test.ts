import { expect, test } from 'vitest';
import { loadedAgain } from './lazily';

const atOnce = () => Promise.resolve();

test('a module whose load fails is loaded again, with a bound', async () => {
  let loads = 0;
  const load = (failures: number) => async () => {
    loads += 1;
    if (loads <= failures) throw new TypeError('Failed to fetch dynamically imported module');
    return 'the module';
  };
  expect(await loadedAgain(load(3), atOnce)).toBe('the module');
  expect(loads).toBe(4);
  loads = 0;
  await expect(loadedAgain(load(4), atOnce)).rejects.toThrow('Failed to fetch');
  expect(loads).toBe(4);
});
