import { Claim } from './claim';

test('of two tabs with the same session the first one hears that the other has it', async () => {
  const first = vi.fn();
  const other = vi.fn();
  const second = vi.fn();
  const claims = [new Claim('one', first), new Claim('two', other), new Claim('one', second)];
  await vi.waitFor(() => expect(first).toHaveBeenCalledTimes(1));
  expect(other).not.toHaveBeenCalled();
  expect(second).not.toHaveBeenCalled();
  for (const claim of claims) claim.close();
});
