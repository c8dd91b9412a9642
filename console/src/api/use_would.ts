import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type Query, send } from './client';
import type { Problem } from './problem';
import type { Kind } from './use_read';

interface Asked {
  path: string;
  body: Record<string, unknown>;
  query?: Query;
  /** What is needed is given. */
  complete: boolean;
  kinds: Kind[];
}

/** A dry run of a POST, sent while the user types: its answer or refusal is shown before the click. */
export function useWould<T>({ path, body, query, complete, kinds }: Asked) {
  const [asked] = useDebouncedValue(JSON.stringify(body), 500);
  return useQuery<T, Problem>({
    queryKey: ['dry run', path, asked, query ?? {}],
    queryFn: () => send('POST', path, { body: JSON.parse(asked) as unknown, query: { ...query, dryRun: true } }),
    enabled: complete && asked === JSON.stringify(body),
    retry: false,
    meta: { kinds },
  });
}
