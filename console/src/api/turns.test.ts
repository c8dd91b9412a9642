import { expect, test } from 'vitest';
import { Turns } from './turns';

test('two work at once, a failure gives its place back', async () => {
  const turns = new Turns(2);
  let working = 0;
  let most = 0;
  const work = async (fails: boolean) => {
    most = Math.max(most, (working += 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
    working -= 1;
    if (fails) throw new Error('refused');
    return 'done';
  };
  const all = await Promise.allSettled([true, false, true, false, false].map((fails) => turns.run(() => work(fails))));
  expect(most).toBe(2);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});
