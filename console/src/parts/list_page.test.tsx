import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { volumes } from '../pages/user/volumes';
import { ListPage } from './list_page';

function show(answer: Response) {
  vi.stubGlobal('fetch', () => Promise.resolve(answer.clone()));
  const { hook, searchHook } = memoryLocation({ path: '/volumes' });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <Router hook={hook} searchHook={searchHook}><ListPage kind={volumes} /></Router>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

afterEach(() => vi.unstubAllGlobals());

test('an empty list says what it is, and how to make one', async () => {
  show(json({ items: [] }));
  expect(await screen.findByText(/outlives instances/)).toBeInTheDocument();
  expect(screen.getByText('hostler volume create models --size 10Gi')).toBeInTheDocument();
});

test('a refusal shows sentence, reason and remedy', async () => {
  show(json({ detail: 'no place leads', code: 'unfit', help: 'wait a little' }, 409));
  expect(await screen.findByText('no place leads')).toBeInTheDocument();
  expect(screen.getByText('wait a little')).toBeInTheDocument();
  expect(screen.getByText('unfit')).toBeInTheDocument();
});
