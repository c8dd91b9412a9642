// Reading in components. The kinds say which changes of /v1/watch make an answer old.
import { keepPreviousData, type QueryClient, type QueryKey, useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Answer, type Call, filled, type Item, type ListPath, type Paths, type Query, read, send } from './client';
import { betweenRounds, type Cursor, type Loaded, type Page, PageReads } from './page_reads';
import type { Problem } from './problem';

/** Kinds of /v1/watch. */
export type Kind = string;

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: Problem;
    queryMeta: { kinds?: Kind[] };
  }
}

interface ReadOptions {
  kinds?: Kind[];
  /** Ask again after so many milliseconds, while the page is visible. */
  every?: number;
  enabled?: boolean;
}

interface ListOptions extends ReadOptions {
  /** Until a list by another query has come, the one before stands in its place. */
  keepPrevious?: boolean;
}

/** The answer of one GET, read again when one of its kinds changes. */
export function useRead<P extends keyof Paths & string>(
  path: P,
  call: Omit<Call, 'body' | 'signal'> = {},
  options: ReadOptions = {},
): UseQueryResult<Answer<P>, Problem> {
  return useQuery<Answer<P>, Problem>({
    queryKey: [filled(path, call.params), call.query ?? {}],
    queryFn: ({ signal }) => read(path, { ...call, signal }),
    meta: { kinds: options.kinds },
    refetchInterval: options.every,
    enabled: options.enabled,
  });
}

const readsOfLists = new WeakMap<object, PageReads>();

function readsOf(cache: QueryClient, queryKey: QueryKey): PageReads | undefined {
  const query = cache.getQueryCache().find({ queryKey });
  if (!query) return undefined;
  const reads = readsOfLists.get(query) ?? new PageReads();
  readsOfLists.set(query, reads);
  return reads;
}

const keyOfList = (path: string, query: Query): QueryKey => [path, query, 'pages'];

/** A list by the API's cursors: `fetchNextPage` loads the next one. Which pages a change has read again: page_reads.ts. */
export function useList<P extends ListPath & string>(path: P, query: Query, options: ListOptions = {}) {
  const cache = useQueryClient();
  const queryKey = keyOfList(path, query);
  type Own = Page<Item<P>>;
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const load = (cursor: Cursor) => send<Own>('GET', path, { query: { ...query, cursor }, signal });
      const reads = readsOf(cache, queryKey);
      return reads ? reads.page(pageParam, cache.getQueryData<Loaded<Item<P>>>(queryKey), load) : load(pageParam);
    },
    initialPageParam: undefined as Cursor,
    getNextPageParam: (last) => last.nextCursor || undefined,
    meta: { kinds: options.kinds },
    refetchInterval: options.every,
    enabled: options.enabled,
    placeholderData: options.keepPrevious ? keepPreviousData : undefined,
  });
  const { data, isFetching, isError, isPlaceholderData, refetch, dataUpdatedAt } = list;
  useEffect(() => {
    const reads = readsOf(cache, queryKey);
    if (isFetching || isError || isPlaceholderData || !data || !reads?.hasOld(data.pageParams as Cursor[])) return undefined;
    const next = setTimeout(() => {
      if (cache.isFetching({ queryKey })) return;
      reads.continue();
      void refetch();
    }, betweenRounds);
    return () => clearTimeout(next);
  }, [isFetching, isError, isPlaceholderData, data, dataUpdatedAt]);
  return list;
}

/** Tells which pages of a list, by their numbers, are on screen. */
export function useSeen(path: string, query: Query): (pages: Iterable<number>) => void {
  const cache = useQueryClient();
  const queryKey = keyOfList(path, query);
  return (pages) => {
    const cursors = cache.getQueryData<Loaded<unknown>>(queryKey)?.pageParams ?? [];
    readsOf(cache, queryKey)?.see(Array.from(pages, (page) => cursors[page]));
  };
}

/** Makes all that was read of these kinds old; for the time after an action. */
export function useRefresh(): (kinds: Kind[]) => Promise<void> {
  const cache = useQueryClient();
  return (kinds) =>
    cache.invalidateQueries({ predicate: ({ meta }) => (meta?.kinds ?? []).some((kind) => kinds.includes(kind as Kind)) });
}
