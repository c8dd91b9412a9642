// Reads the fleet: all of it once, then every five seconds the hosts that changed.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { read } from '../../../api/client';
import type { Problem } from '../../../api/problem';
import { type FleetData, merged, noFleet } from './fleet_data';
import type { Colouring } from './shades';

const every = 5000;

async function readFleet(before: FleetData | undefined, zone: string, values: string, signal: AbortSignal): Promise<FleetData> {
  const query = { zone, values, since: before?.cursor };
  const first = await read('/v1/fleet', { query, signal });
  let data = merged(before ?? noFleet, first);
  let after = first.next;
  while (after) {
    const page = await read('/v1/fleet', { query: { ...query, after }, signal });
    data = merged(data, { ...page, whole: false });
    after = page.next;
  }
  // Of several pages the first one's cursor counts: what changed since is asked for again.
  return { ...data, cursor: first.cursor };
}

export function useFleet(colouring: Colouring, zone: string) {
  const cache = useQueryClient();
  const values = [...new Set(['use', 'state', colouring])].join(',');
  const queryKey = ['/v1/fleet', zone, values];
  return useQuery<FleetData, Problem>({
    queryKey,
    queryFn: ({ signal }) => readFleet(cache.getQueryData<FleetData>(queryKey), zone, values, signal),
    refetchInterval: every,
    structuralSharing: false,
  });
}
