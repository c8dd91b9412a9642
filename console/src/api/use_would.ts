import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { filled, type Method, type Query, send } from './client';
import type { Problem } from './problem';
import type { Kind } from './use_read';

interface Asked {
  /** POST where there is none. */
  method?: Method;
  path: string;
  /** Of the path. */
  params?: Record<string, string>;
  body?: Record<string, unknown>;
  query?: Query;
  /** What is needed is given. */
  complete: boolean;
  kinds: Kind[];
}

/** A dry run of a write, sent while the user types: its answer or refusal is shown before the click. */
export function useWould<T>({ method = 'POST', path, params, body, query, complete, kinds }: Asked) {
  const now = JSON.stringify({ path: filled(path, params), query, body });
  const [asked] = useDebouncedValue(now, 500);
  return useQuery<T, Problem>({
    queryKey: ['dry run', method, asked],
    queryFn: () => {
      const call = JSON.parse(asked) as { path: string; query?: Query; body?: unknown };
      return send(method, call.path, { body: call.body, query: { ...call.query, dryRun: true } });
    },
    enabled: complete && asked === now,
    retry: false,
    meta: { kinds },
  });
}
