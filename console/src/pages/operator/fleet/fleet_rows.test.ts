import { type FleetData, type FleetHost, noFleet } from './fleet_data';
import { keepOrder, orderedRows } from './fleet_rows';

const words = ['healthy', 'faulty'];

function fleet(...states: number[]): FleetData {
  const host: FleetHost = { id: 'h-1', name: 'nj-1', zone: 'nj', state: 'ready', gpus: states.length, values: new Map([['state', Uint16Array.from(states)]]) };
  return { ...noFleet, hosts: new Map([[host.id, host]]), words: new Map([['state', words]]) };
}

const gpus = (rows: { gpu: number }[]) => rows.map(({ gpu }) => gpu);

test('the worst are first, or the order is the one that one chose', () => {
  expect(gpus(orderedRows(fleet(0, 0, 1)))).toEqual([2, 0, 1]);
  expect(gpus(orderedRows(fleet(0, 0, 1), { key: 'gpu', down: true }))).toEqual([2, 1, 0]);
});

test('a change moves no row, and is counted', () => {
  const first = orderedRows(fleet(0, 0, 0));
  const kept = { view: '', ids: first.map(({ id }) => id), ranks: new Map(first.map(({ id, rank }) => [id, rank])) };
  const { rows, changed } = keepOrder(orderedRows(fleet(0, 0, 1)), kept);
  expect(gpus(rows)).toEqual([0, 1, 2]);
  expect(changed).toBe(1);
  expect(keepOrder(orderedRows(fleet(0, 0, 0)), kept).changed).toBe(0);
});
