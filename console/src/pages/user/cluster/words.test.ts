import { apiText, type Cluster, type ClusterNode, deleteText, endOf, healthText, isSettled, needsText, nodesInOrder, poolRows, readyText, reasonText, scaleText, stepText } from './words';

const node = (name: string, more: Partial<ClusterNode> = {}): ClusterNode => ({
  id: `kn-${name}`, name, role: 'worker', pool: 'gpu', state: 'ready', wanted: true, host: '', zone: 'nj', gpus: 8, step: '', attempt: 0, healthy: true, reason: '', message: '', leftovers: [],
  createdAt: '2026-01-01T00:00:00Z', stateSince: '2026-01-01T00:00:00Z', timeline: [], ...more,
});

const pool = { name: 'gpu', count: 2, gpuType: 'H100', gpus: 8, zone: '', hosts: [], hostLabels: {} };

const cluster: Cluster = {
  id: 'kc-1', name: 'train', tenantID: 'acme', project: 'lab', state: 'scaling', reason: '', message: '', driver: 'kubeadm', version: 'v1.36.3', restore: '', values: {}, control: 3, controlZone: 'nj', controlHosts: [],
  controlLabels: {}, pools: [pool], apiAnswers: true, readyNodes: 2, wantedNodes: 5, endpoint: '', createdBy: '', createdAt: '2026-01-01T00:00:00Z', labels: {}, leaves: [],
  nodes: [node('train-c1', { role: 'control', pool: '' }), node('train-w2'), node('train-w3', { state: 'joining' }), node('train-w4', { pool: 'old', state: 'draining', wanted: false })],
};

test('a reason stands beside a state that does not say it', () => {
  expect(reasonText({ reason: 'no_host' })).toBe('no host is free');
  expect(reasonText({ reason: 'some_new_reason' })).toBe('some new reason');
  expect(reasonText({ reason: 'created' })).toBe('');
  expect(readyText(cluster)).toBe('2/5');
});

test('an API that was never there is unknown, not silent', () => {
  expect(apiText({ apiAnswers: false })).toBe('');
  expect(apiText({ apiAnswers: false, madeAt: cluster.createdAt })).toBe('does not answer');
  expect(apiText({ apiAnswers: true, madeAt: cluster.createdAt })).toBe('answers');
});

test('hosts of a pool in words', () => {
  expect(needsText(pool)).toBe('8 GPUs of H100 at least');
  expect(needsText({ ...pool, gpus: 0, zone: 'nj', hosts: ['a', 'b'], hostLabels: { disk: 'nvme', rack: '' } })).toBe('GPUs of H100, zone nj, of a, b, disk=nvme, rack=');
  expect(needsText({ zone: '', hosts: [], hostLabels: {} })).toBe('any host');
});

test('each pool has its nodes, also one that is gone', () => {
  expect(poolRows(cluster).map(({ title, wanted, ready, leaving }) => [title, wanted, ready, leaving])).toEqual([['Control plane', 3, 1, 0], ['gpu', 2, 1, 0], ['old', 0, 0, 1]]);
});

test('another number of hosts says what it does', () => {
  const gpu = { name: 'gpu', wanted: 2 };
  expect(scaleText(gpu, 2)).toBe('Pool gpu is to have 2 hosts.');
  expect(scaleText(gpu, undefined)).toBe('Pool gpu is to have 2 hosts.');
  expect(scaleText(gpu, 3)).toBe('Pool gpu takes 1 more host as soon as one is free. Nothing else runs there then.');
  expect(scaleText(gpu, 1)).toBe('1 node of pool gpu leaves: pods move to other nodes, and the host is cleaned.');
  expect(scaleText(gpu, 0)).toBe('2 nodes of pool gpu leave: pods move to other nodes, and the hosts are cleaned.');
  expect(scaleText({ name: '', wanted: 1 }, 3)).toBe('The control plane takes 2 more hosts as soon as they are free. Nothing else runs there then. Members of the control plane join and leave one at a time.');
});

test('a deletion says what it ends', () => {
  expect(deleteText(cluster)).toBe('All that runs in train ends, and its data is deleted. Its 5 hosts are cleaned, and then free.');
  expect(deleteText({ ...cluster, state: 'failed' })).toBe('Hosts of train are cleaned, and then free.');
});

test('nodes stand by role, pool and number', () => {
  const names = nodesInOrder([node('t-w10'), node('t-w2'), node('t-w1', { pool: 'cpu' }), node('t-c3', { role: 'control', pool: '' })]).map(({ name }) => name);
  expect(names).toEqual(['t-c3', 't-w1', 't-w2', 't-w10']);
});

test('a step with the attempts that failed', () => {
  expect([0, 1, 3].map((attempt) => stepText({ step: 'kubeadm-join', attempt }))).toEqual(['kubeadm-join', 'kubeadm-join, failed once', 'kubeadm-join, failed 3 times']);
  expect(stepText({ step: '', attempt: 0 })).toBe('');
  expect(endOf({ problem: '' })).toBe('running');
  expect(endOf({ problem: '', endedAt: cluster.createdAt })).toBe('done');
  expect(endOf({ problem: 'timeout', endedAt: cluster.createdAt })).toBe('failed');
});

test('the health of what is no node yet is unknown', () => {
  expect(healthText({ state: 'joining', healthy: false })).toBe('');
  expect(healthText({ state: 'ready', healthy: false })).toBe('not healthy');
  expect(healthText({ state: 'draining', healthy: true })).toBe('healthy');
});

test('a cluster that waits for a node is not settled', () => {
  expect(isSettled(cluster)).toBe(false);
  expect(isSettled({ state: 'ready', nodes: [node('w1')] })).toBe(true);
  expect(isSettled({ state: 'deleted', nodes: [node('w1', { state: 'unclean' })] })).toBe(false);
});
