import { settle } from './settle';

test('new rows above wait, new rows below are appended, gone rows go', () => {
  expect(settle(['a', 'b', 'c'], ['x', 'c', 'a', 'd'])).toEqual({ order: ['a', 'c', 'd'], fresh: ['x'] });
});

test('the first answer, and one that shares no row, are shown as they come', () => {
  expect(settle([], ['b', 'a'])).toEqual({ order: ['b', 'a'], fresh: [] });
  expect(settle(['a'], ['b'])).toEqual({ order: ['b'], fresh: [] });
});
