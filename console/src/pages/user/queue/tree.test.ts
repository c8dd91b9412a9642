import { amountText, jobsPage, nameOf, percentText, type Queue, treeOf, wordsOf } from './tree';

const queue = (tenantID: string, project = '', user = '', more: Partial<Queue> = {}): Queue => ({
  tenantID, project, user, name: '', weight: 1, running: {}, runningElements: 0, waitingElements: 1, shareMilli: 0, entitledMilli: 0, guaranteedMilli: 0,
  usedMilli: 0, rankMilli: 0, belowGuarantee: false, borrows: false, summary: '', version: 0, ...more,
});

test('queues stand below their project and tenant, each with what fills its bar', () => {
  const [acme, globex] = treeOf([
    queue('acme', '', '', { shareMilli: 400, entitledMilli: 500 }), queue('acme', 'lab', '', { entitledMilli: 500 }),
    queue('acme', 'lab', 'user/u-1', { entitledMilli: 100 }), queue('acme', 'lab', 'user/u-2', { entitledMilli: 400 }), queue('globex', '', '', { guaranteedMilli: 600 }),
  ]);
  expect(acme?.children[0]?.children.map(({ key, depth, scale }) => [key, depth, scale])).toEqual([['acme/lab/user/u-1', 2, 400], ['acme/lab/user/u-2', 2, 400]]);
  expect([acme?.scale, globex?.scale]).toEqual([600, 600]);
});

test('a queue stands at the top where its parent is not to be seen', () => {
  const all = treeOf([queue('acme', 'lab'), queue('acme', 'lab', 'user/u-1'), queue('acme', 'ops', 'user/u-1')]);
  expect(all.map(({ key }) => key)).toEqual(['acme/lab', 'acme/ops/user/u-1']);
});

test('of those that wait the next is below its guarantee, then of the lowest rank, then waits longest', () => {
  const next = (...queues: Queue[]) => treeOf(queues).filter((node) => node.next).map(({ key }) => key);
  const idle = { waitingElements: 0 };
  const since = (minute: number) => ({ rankMilli: 5, waitsSince: `2026-01-01T00:0${minute}:00Z` });
  expect(next(queue('a', '', '', { rankMilli: 1 }), queue('b', '', '', { rankMilli: 9, belowGuarantee: true }))).toEqual(['b']);
  expect(next(queue('a', '', '', { rankMilli: 2 }), queue('b', '', '', { rankMilli: 1 }), queue('c', '', '', idle))).toEqual(['b']);
  expect(next(queue('a', '', '', since(5)), queue('b', '', '', since(4)))).toEqual(['b']);
  expect(next(queue('a', '', '', idle), queue('b', '', '', idle))).toEqual([]);
});

test('shares, amounts and names are written as people read them', () => {
  expect([0, 4, 125, 1000].map(percentText)).toEqual(['0 %', '0.4 %', '13 %', '100 %']);
  expect(amountText({ gpus: 1, memory: '8Gi' })).toBe('1 GPU, 8Gi memory');
  expect(amountText({})).toBeUndefined();
  expect(nameOf(queue('acme', 'lab', 'user/u-1'), true)).toBe('acme / lab / user/u-1');
  expect(wordsOf(queue('acme', 'lab', 'user/u-1', { name: 'ann' }))).toBe('ann in project lab of acme');
});

test('its jobs are a query of the list', () => {
  expect(jobsPage(queue('acme', 'lab', 'user/u-1'), 'waiting')).toBe("/jobs?query=tenantID%3Dacme+project%3Dlab+createdBy%3D%27user%2Fu-1%27+waiting%3E0");
});
