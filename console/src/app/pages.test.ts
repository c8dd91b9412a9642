import { pages } from './pages';

test('each letter opens one page', () => {
  const letters = pages.flatMap(({ nav }) => nav?.letter ?? []);
  expect(letters).toEqual([...new Set(letters)]);
});
