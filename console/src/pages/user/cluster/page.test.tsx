import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import type { Schemas } from '../../../api/client';
import CreateClusterPage from './create';
import ClusterPage from './page';
import type { Cluster, ClusterNode } from './words';

const time = '2026-01-01T00:00:00Z';

const node = (name: string, more: Partial<ClusterNode> = {}): ClusterNode => ({
  id: `kn-${name}`, name, role: 'worker', pool: 'gpu', state: 'ready', wanted: true, host: 'h-1', zone: 'nj', gpus: 8, step: '', attempt: 0, healthy: true, reason: '', message: '', leftovers: [],
  createdAt: time, stateSince: time, timeline: [], ...more,
});

const unclean = node('train-w2', { state: 'unclean', leftovers: ['interface cni0'], timeline: [{ step: 'kubeadm-reset', attempt: 2, beganAt: time, endedAt: time, problem: 'it did not end in time' }] });

const pools: Schemas['ClusterPool'][] = [
  { name: 'gpu', count: 2, gpuType: 'H100', gpus: 8, zone: '', hosts: [], hostLabels: {} },
  { name: 'spare', count: 0, gpuType: '', gpus: 0, zone: 'nj', hosts: [], hostLabels: {} },
];

const cluster: Cluster = {
  id: 'kc-1', name: 'train', tenantID: 'acme', project: 'lab', state: 'scaling', reason: 'no_host', message: 'no host is free', driver: 'kubeadm', version: 'v1.36.3', restore: '', values: {}, control: 1,
  controlZone: '', controlHosts: [], controlLabels: {}, pools, apiAnswers: true, readyNodes: 1,
  wantedNodes: 3, endpoint: 'kc-1.hostler.internal', createdBy: '', createdAt: time, madeAt: time, labels: {}, nodes: [node('train-c1', { role: 'control', pool: '' }), unclean], leaves: [],
};

const why: Schemas['ClusterExplanation'] = {
  token: 'no_host', sentence: 'Cluster train is scaling. No host is free.', wouldHelp: 'hostler cluster scale train --pool gpu --count 1',
  waits: [{ node: '', token: 'no_host', sentence: 'No host is free.', wouldHelp: '' }, { node: 'train-w2', token: 'host_unclean', sentence: 'The host of node train-w2 is not clean: interface cni0.', wouldHelp: '' }],
};

const plan: Schemas['ClusterPlan'] = { sentence: 'It takes 2 hosts with 8 GPUs now in zone nj.', fits: true, zones: ['nj'], hosts: ['h-7'], gpus: 8, reason: '' };

const drivers: Schemas['ClusterDriver'][] = [{ name: 'kubeadm', title: 'Kubernetes by kubeadm', versions: ['v1.36.3'], ports: [], values: {} }];

const save: Schemas['ClusterSave'] = {
  id: 'ks-1', tenantID: 'acme', project: 'lab', cluster: 'kc-1', clusterName: 'train', state: 'saved', reason: '', message: '', driver: 'kubeadm', version: 'v1.36.3', values: {}, bytes: 4096, createdBy: '',
  createdAt: time, stateSince: time,
};

interface Asked { method: string; path: string; query: URLSearchParams; body: Record<string, unknown> }

/** A page over a small API that keeps what it was asked. */
function show(page: 'cluster' | 'create', path: string, permissions: string[], refuse?: (asked: Asked) => object | undefined) {
  const writes: Asked[] = [];
  const answers: Record<string, unknown> = {
    '/v1/whoami': { scopes: [{ permissions, tenantID: 'acme' }], tenantID: 'acme' },
    '/v1/clusters/kc-1': { ...cluster, leaves: ['host h-1 (node train-w2) still has interface cni0'] },
    '/v1/clusters/kc-1/explain': why,
    '/v1/cluster-drivers': { drivers },
    '/v1/cluster-saves': { items: [save, { ...save, id: 'ks-2', state: 'saving' }] },
    '/v1/clusters': { ...cluster, plan },
  };
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const asked = { method: request.method, path: pathname, query: searchParams, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} };
    if (request.method !== 'GET') writes.push(asked);
    const refusal = refuse?.(asked);
    return new Response(JSON.stringify(refusal ?? answers[pathname] ?? { items: [] }), { status: refusal ? 400 : 200, headers: { 'Content-Type': 'application/json' } });
  });
  const { hook, searchHook, history } = memoryLocation({ path, record: true });
  const Page = page === 'cluster' ? ClusterPage : CreateClusterPage;
  const tab = /kc-1\/(\w+)/.exec(path)?.[1];
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <Router hook={hook} searchHook={searchHook}><Page params={{ id: 'kc-1', tab }} /></Router>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { writes, history, real: () => writes.filter(({ query }) => query.get('dryRun') !== 'true') };
}

afterEach(() => vi.unstubAllGlobals());

const member = ['cluster.read', 'cluster.write', 'offer.read'];
const long = { timeout: 8000 };

test('a cluster says why it waits and what would help, and has its pools', async () => {
  show('cluster', '/clusters/kc-1', member);
  expect(await screen.findByText('Cluster train is scaling. No host is free.', {}, long)).toBeInTheDocument();
  expect(screen.getByText('hostler cluster scale train --pool gpu --count 1')).toBeInTheDocument();
  expect(screen.getByText('The host of node train-w2 is not clean: interface cni0.')).toBeInTheDocument();
  expect(screen.getByText('hostler cluster kubeconfig train --tenant-id acme --project lab --out train.yaml')).toBeInTheDocument();
  const row = screen.getByRole('row', { name: /^gpu/ });
  expect(within(row).getByText('0/2')).toBeInTheDocument();
  expect(within(row).getByText('8 GPUs of H100 at least')).toBeInTheDocument();
}, 30_000);

test('a pool is removed, the others stay, and the control plane cannot be', async () => {
  const { real } = show('cluster', '/clusters/kc-1', member);
  const user = userEvent.setup();
  const row = await screen.findByRole('row', { name: /^gpu/ }, long);
  const button = await within(row).findByRole('button', { name: 'Remove' }, long);
  expect(within(screen.getByRole('row', { name: /^Control plane/ })).queryByRole('button', { name: 'Remove' })).not.toBeInTheDocument();
  await user.click(button);
  const dialog = await screen.findByRole('dialog', {}, long);
  expect(await within(dialog).findByText(/2 nodes of pool gpu leave/, {}, long)).toBeInTheDocument();
  expect(within(dialog).getByText(/hostler cluster scale kc-1 .*--pools spare=0,zone=nj/)).toBeInTheDocument();
  await user.type(within(dialog).getByRole('textbox', { name: /^Type/ }), 'gpu');
  await user.click(within(dialog).getByRole('button', { name: 'Remove' }));
  await waitFor(() => expect(real()).toHaveLength(1), long);
  const [spare] = pools.slice(1);
  expect(real()[0]).toMatchObject({ method: 'PATCH', path: '/v1/clusters/kc-1', body: { tenantID: 'acme', pools: [spare] } });
}, 30_000);

test('those who only read have no buttons, and those who may not see hosts no links to them', async () => {
  show('cluster', '/clusters/kc-1/nodes?node=train-w2', ['cluster.read']);
  expect(await screen.findByText('it did not end in time', {}, long)).toBeInTheDocument();
  for (const name of ['Delete', 'Delete by force', 'Forget']) expect(screen.queryByRole('button', { name })).not.toBeInTheDocument();
  expect(screen.queryByRole('link', { name: 'h-1' })).not.toBeInTheDocument();
}, 30_000);

test('a forced deletion shows what it leaves before it is done, and asks for the name', async () => {
  const { writes, real } = show('cluster', '/clusters/kc-1', member);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Delete by force' }, long));
  const dialog = await screen.findByRole('dialog', {}, long);
  await user.type(await within(dialog).findByRole('textbox', { name: /^Reason/ }, long), 'new hosts');
  expect(await within(dialog).findByText('host h-1 (node train-w2) still has interface cni0', {}, long)).toBeInTheDocument();
  expect(writes.every(({ query }) => query.get('dryRun') === 'true')).toBe(true);
  const button = within(dialog).getByRole('button', { name: 'Delete by force' });
  expect(button).toBeDisabled();
  await user.type(within(dialog).getByRole('textbox', { name: /^Type/ }), 'train');
  await user.click(button);
  await waitFor(() => expect(real()).toHaveLength(1), long);
  expect(real()[0]).toMatchObject({ method: 'DELETE', path: '/v1/clusters/kc-1', body: {} });
  expect(Object.fromEntries(real()[0]?.query ?? [])).toEqual({ tenantID: 'acme', force: 'true', reason: 'new hosts' });
}, 30_000);

test('a cluster is saved, and a save is restored as a new cluster', async () => {
  const { real } = show('cluster', '/clusters/kc-1', member);
  const user = userEvent.setup();
  const row = await screen.findByRole('row', { name: /ks-1/ }, long);
  expect(within(screen.getByRole('row', { name: /ks-2/ })).queryByRole('button', { name: 'Delete' })).not.toBeInTheDocument();
  await user.click(within(row).getByRole('button', { name: 'Restore as a new cluster' }));
  let dialog = await screen.findByRole('dialog', {}, long);
  await user.type(await within(dialog).findByRole('textbox', { name: /^Name/ }, long), 'again');
  expect(within(dialog).getByText(/hostler cluster create .*--restore ks-1/)).toBeInTheDocument();
  await user.click(within(dialog).getByRole('button', { name: 'Restore as a new cluster' }));
  await waitFor(() => expect(real()).toHaveLength(1), long);
  expect(real()[0]).toMatchObject({ method: 'POST', path: '/v1/clusters', body: { name: 'again', restore: 'ks-1', control: 1, tenantID: 'acme', project: 'lab' } });
  show('cluster', '/clusters/kc-1', member);
  await user.click((await screen.findAllByRole('button', { name: 'Save now' }, long)).at(-1) as HTMLElement);
  dialog = await screen.findByRole('dialog', {}, long);
  expect(await within(dialog).findByText(/hostler cluster save kc-1/, {}, long)).toBeInTheDocument();
}, 30_000);

test('an unclean node is forgotten by those who may, with a reason', async () => {
  const { real } = show('cluster', '/clusters/kc-1/nodes?node=train-w2', [...member, 'cluster.admin']);
  const user = userEvent.setup();
  await user.click((await screen.findAllByRole('button', { name: 'Forget' }, long))[0] as HTMLElement);
  const dialog = await screen.findByRole('dialog', {}, long);
  await user.type(await within(dialog).findByRole('textbox', { name: /^Reason/ }, long), 'installed again');
  await user.type(within(dialog).getByRole('textbox', { name: /^Type/ }), 'train-w2');
  await user.click(within(dialog).getByRole('button', { name: 'Forget' }));
  await waitFor(() => expect(real()).toHaveLength(1), long);
  expect(real()[0]).toMatchObject({ method: 'POST', path: '/v1/cluster-nodes/kn-train-w2/forget', body: { force: true, reason: 'installed again' } });
}, 30_000);

test('the hosts that a new cluster would take are shown before it is made', async () => {
  const { real, history } = show('create', '/clusters/new?name=train', member);
  expect(await screen.findByText(plan.sentence, {}, long)).toBeInTheDocument();
  expect(real()).toHaveLength(0);
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await waitFor(() => expect(history.at(-1)).toBe('/clusters/kc-1?tenantID=acme'), long);
  expect(real().map(({ body }) => body)).toEqual([{ name: 'train', driver: 'kubeadm', control: 1, pools: [{ name: 'gpu', count: 1, gpus: 1 }] }]);
}, 30_000);

test('a refusal of a pool stands at its field', async () => {
  const refuse = ({ method, path }: Asked) =>
    method === 'POST' && path === '/v1/clusters' ? { detail: 'the request is wrong', code: 'invalid', errors: [{ field: 'pools[0].count', message: 'is more than there are' }] } : undefined;
  show('create', '/clusters/new?name=train', member, refuse);
  await userEvent.click(await screen.findByRole('button', { name: 'Create' }, long));
  expect(await screen.findByRole('textbox', { name: /^Hosts/, description: 'is more than there are' }, long)).toBeInTheDocument();
}, 30_000);
