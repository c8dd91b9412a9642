import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { volumes } from '../pages/user/volumes';
import { fitting, ListPage } from './list_page';

function show(answer: Response | ((url: string) => Response), path = '/volumes') {
  vi.stubGlobal('fetch', ({ url }: Request) => Promise.resolve(typeof answer === 'function' ? answer(url) : answer.clone()));
  const { hook, searchHook } = memoryLocation({ path });
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
  expect(await screen.findByText('No place leads')).toBeInTheDocument();
  expect(screen.getByText('wait a little')).toBeInTheDocument();
  expect(screen.getByText('unfit')).toBeInTheDocument();
});

test('a refusal names its request, with a button that copies the id', async () => {
  show(new Response(JSON.stringify({ detail: 'no place leads', code: 'unfit', requestID: 'r-1' }), { status: 409 }));
  expect(await screen.findByText('Request r-1')).toBeInTheDocument();
  expect(screen.getByRole('button', { name: 'Copy the request id' })).toBeInTheDocument();
});

const volume = (name: string) => ({ id: `v-${name}`, name, state: 'available', size: '10Gi', zone: 'nj', attachedTo: [], tenantID: 'acme', project: 'default', createdAt: '2026-01-02T03:04:05Z' });

test('what matches is looked for on later pages, and a refusal ends that', async () => {
  const asked: string[] = [];
  show((url) => {
    if (url.includes('/v1/volumes')) asked.push(new URL(url).searchParams.get('cursor') ?? '');
    if (url.includes('cursor=3')) return json({ detail: 'no place leads' }, 409);
    return json({ items: [volume('a')], nextCursor: url.includes('cursor=2') ? '3' : '2' });
  }, '/volumes?q=models');
  expect(await screen.findByText('No place leads')).toBeInTheDocument();
  expect(screen.getByText(/No volumes match/)).toBeInTheDocument();
  await new Promise((done) => setTimeout(done, 100));
  expect(asked).toEqual(['', '2', '3']);
});

test('a filter keeps its input and focus while the API is asked', async () => {
  vi.stubGlobal('scrollTo', () => {});
  const asked: string[] = [];
  show((url) => {
    asked.push(new URL(url).searchParams.get('zone') ?? '');
    return asked.at(-1) ? json({ detail: 'no such zone' }, 409) : json({ items: [volume('a')] });
  });
  const input = screen.getByLabelText('Zone');
  await userEvent.type(input, 'abc');
  expect(await screen.findByText('No such zone')).toBeInTheDocument();
  expect(input).toHaveFocus();
  expect(input).toHaveValue('abc');
  await waitFor(() => expect(asked.filter(Boolean)).toEqual(['abc']));
});

test('a query is sent to the API, and its refusal stands under the field', async () => {
  vi.stubGlobal('scrollTo', () => {});
  const asked: string[] = [];
  const message = "at 1: there is no field 'zon'; did you mean 'zone'? There are id, name, zone";
  show((url) => {
    if (url.includes('/v1/volumes')) asked.push(new URL(url).searchParams.get('query') ?? '');
    if (asked.at(-1) === 'zon=nj') return json({ detail: `query: ${message}`, code: 'invalid', errors: [{ field: 'query', message }] }, 400);
    return json({ items: [volume('a')] });
  }, '/volumes?query=zone%3Dnj');
  const input = screen.getByLabelText('Query Volumes');
  expect(input).toHaveValue('zone=nj');
  await userEvent.clear(input);
  await userEvent.type(input, 'zon=nj');
  expect(await screen.findByText(message)).toBeInTheDocument();
  expect(input).toHaveAttribute('aria-invalid', 'true');
  expect(screen.queryByRole('alert')).toBeNull();
  expect([asked.at(0), asked.at(-1)]).toEqual(['zone=nj', 'zon=nj']);
});

test('a table leaves columns for wide pages out, and no others', () => {
  const column = (key: string, width?: string, wideOnly?: boolean) => ({ key, title: key, value: () => key, width, wideOnly });
  const columns = [column('name'), column('state', '100px'), column('zone', '100px', true), column('tenant', '100px', true)];
  const keys = (pixels: number) => fitting(columns, pixels).map(({ key }) => key).join(' ');
  expect(keys(0)).toBe('name state zone tenant');
  expect(keys(460)).toBe('name state zone tenant');
  expect(keys(459)).toBe('name state zone');
  expect(keys(100)).toBe('name state');
});
