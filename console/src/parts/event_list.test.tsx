import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { EventList } from './event_list';

const event = (number: number) => ({ number, time: `2026-01-02T03:04:${String(number).padStart(2, '0')}Z`, kind: 'host', id: 'h-1', tenantID: '', actor: 'master', reason: `happened_${number}`, message: `Event ${number}.` });

const json = (body: unknown) => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } });

afterEach(() => vi.unstubAllGlobals());

const reasons = () => screen.getAllByText(/^happened_/).map(({ textContent }) => textContent);

test('older events come behind the newest ones, page by page, and stay when new ones come', async () => {
  let newest = [event(9), event(8)];
  const asked: string[] = [];
  vi.stubGlobal('fetch', ({ url }: Request) => {
    const query = new URL(url).searchParams;
    asked.push(`${query.get('order')} ${query.get('cursor') ?? ''}`);
    if (query.get('cursor') === 'a') return Promise.resolve(json({ items: [event(7), event(6)], nextCursor: 'b' }));
    if (query.get('cursor') === 'b') return Promise.resolve(json({ items: [event(5)] }));
    return Promise.resolve(json({ items: newest, nextCursor: 'a' }));
  });
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={cache}>
        <EventList path="/v1/events" query={{ kind: 'host', id: 'h-1' }} kinds={['event']} empty="nothing" />
      </QueryClientProvider>
    </MantineProvider>,
  );
  expect(await screen.findByText('happened_9')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Older' }));
  expect(await screen.findByText('happened_6')).toBeInTheDocument();
  newest = [event(10), event(9)];
  await act(() => cache.invalidateQueries());
  expect(await screen.findByText('happened_10')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Older' }));
  expect(await screen.findByText('happened_5')).toBeInTheDocument();
  expect(reasons()).toEqual([10, 9, 8, 7, 6, 5].map((number) => `happened_${number}`));
  expect(screen.queryByRole('button', { name: 'Older' })).toBeNull();
  expect(asked).toEqual(['-created ', '-created a', '-created ', '-created b']);
});
