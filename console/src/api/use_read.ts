// Reading in components. The kinds say which changes of /v1/watch make an answer old.
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { type Answer, type Call, filled, type Item, type ListPath, type Paths, type Query, read, send } from './client';
import type { Problem } from './problem';

/** Kinds of /v1/watch. */
export type Kind = string;

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: Problem;
    queryMeta: { kinds?: Kind[] };
  }
}

export interface ReadOptions {
  kinds?: Kind[];
  /** Ask again after so many milliseconds, while the page is visible. */
  every?: number;
  enabled?: boolean;
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

interface Page<T> {
  items: T[];
  nextCursor?: string;
  total?: number;
}

/** A list by the API's cursors: `fetchNextPage` loads the next one. */
export function useList<P extends ListPath & string>(path: P, query: Query, options: ReadOptions = {}) {
  return useInfiniteQuery({
    queryKey: [path, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      send<Page<Item<P>>>('GET', path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor || undefined,
    meta: { kinds: options.kinds },
    refetchInterval: options.every,
    enabled: options.enabled,
  });
}

/** Makes all that was read of these kinds old; for the time after an action. */
export function useRefresh(): (kinds: Kind[]) => Promise<void> {
  const cache = useQueryClient();
  return (kinds) =>
    cache.invalidateQueries({ predicate: ({ meta }) => (meta?.kinds ?? []).some((kind) => kinds.includes(kind as Kind)) });
}
