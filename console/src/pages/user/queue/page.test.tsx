import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import QueuesPage from './page';

const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

interface Scope {
  tenantID?: string;
  permissions: string[];
}

function show(queues: () => Response, scopes: Scope[] = []) {
  const answer = (url: string) => (url.includes('/v1/whoami') ? json({ scopes }) : url.includes('/v1/queues') ? queues() : json({ items: [] }));
  vi.stubGlobal('fetch', ({ url }: Request) => Promise.resolve(answer(url)));
  const { hook, searchHook } = memoryLocation({ path: '/queues' });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <Router hook={hook} searchHook={searchHook}><QueuesPage /></Router>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

afterEach(() => vi.unstubAllGlobals());

const queue = (project: string, user: string, more: object = {}) => ({
  tenantID: 'acme', project, user, name: '', weight: 1, running: { gpus: 2 }, runningElements: 2, waitingElements: 0, shareMilli: 250, entitledMilli: 500,
  guaranteedMilli: 0, usedMilli: 0, rankMilli: 250, belowGuarantee: false, borrows: false, summary: '', version: 0, ...more,
});

const all = () => json({ items: [queue('', ''), queue('lab', '', { guaranteedMilli: 100, version: 3 }), queue('lab', 'user/u-1', { name: 'ann', waitingElements: 3 })] });

test('without jobs and settings it says when there is a queue', async () => {
  show(() => json({ items: [] }));
  expect(await screen.findByText(/A queue is there as long as/)).toBeInTheDocument();
});

test('a refusal stands in place of the tree', async () => {
  show(() => json({ detail: 'no master leads', code: 'unavailable' }, 409));
  expect(await screen.findByText('No master leads')).toBeInTheDocument();
});

test('each queue has its share in words, and its jobs as links for those who may see them', async () => {
  show(all, [{ tenantID: 'acme', permissions: ['job.read'] }]);
  expect(await screen.findByRole('img', { name: 'Share of lab: 25 % of the cloud, entitled to 50 %, 10 % guaranteed' })).toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole('link', { name: '3 wait' })).toHaveAttribute('href', expect.stringContaining('createdBy%3D%27user%2Fu-1%27+waiting%3E0')));
  expect(screen.queryByRole('button', { name: 'Change' })).not.toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Queues of lab' }));
  expect(screen.queryByText('ann')).not.toBeInTheDocument();
});

test('an admin of the tenant changes queues of its projects and people, and not its own', async () => {
  show(all, [{ tenantID: 'acme', permissions: ['queue.write'] }]);
  expect(await screen.findAllByRole('button', { name: 'Change' })).toHaveLength(2);
  expect(screen.getAllByRole('button', { name: 'Delete settings' })).toHaveLength(1);
});
