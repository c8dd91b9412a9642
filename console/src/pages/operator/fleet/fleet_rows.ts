// Rows of the fleet's table, and their order, which stays while values change.
import { useEffect, useRef, useState } from 'react';
import type { Order } from '../../../parts/list_rows';
import { settle } from '../../../parts/settle';
import { type FleetData, type FleetHost, valueOf, zonesOf } from './fleet_data';

export interface Row {
  id: string;
  host: FleetHost;
  gpu: number;
  /** The sort key. */
  rank: string | number | undefined;
}

const worst = ['faulty', 'unresponsive', 'gone', 'degraded'];

function badness(data: FleetData, host: FleetHost, gpu: number): number {
  const place = worst.indexOf(String(valueOf(data, host, gpu, 'state')));
  return place < 0 ? worst.length : place;
}

function rankOf(data: FleetData, host: FleetHost, gpu: number, key: string | undefined): Row['rank'] {
  if (key === undefined || key === 'state') return badness(data, host, gpu);
  if (key === 'host') return host.name;
  if (key === 'zone') return host.zone;
  return key === 'gpu' ? gpu : valueOf(data, host, gpu, key);
}

const words = new Intl.Collator('en', { numeric: true });

/** Unknown values are last in both directions. */
function compare(a: Row['rank'], b: Row['rank'], down: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const rising = typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(String(a), String(b));
  return down ? -rising : rising;
}

/** Sorted by the chosen column, else the worst first; ties by zone, host and GPU. */
export function orderedRows(data: FleetData, order?: Order): Row[] {
  const rows = zonesOf(data).flatMap(({ hosts }) =>
    hosts.flatMap((host) =>
      Array.from({ length: host.gpus }, (_, gpu) => ({ id: `${host.id} ${gpu}`, host, gpu, rank: rankOf(data, host, gpu, order?.key) })),
    ),
  );
  return rows.sort((a, b) => compare(a.rank, b.rank, order?.down ?? false));
}

interface Kept {
  view: string;
  ids: string[];
  ranks: Map<string, Row['rank']>;
}

/** The rows to show of `arrived`, and the number of rows that are new or would move. */
export function keepOrder(arrived: Row[], kept: Kept | undefined): { rows: Row[]; changed: number } {
  if (!kept || kept.ids.length === 0) return { rows: arrived, changed: 0 };
  const { order, fresh } = settle(kept.ids, arrived.map(({ id }) => id));
  const byId = new Map(arrived.map((row) => [row.id, row]));
  const rows = order.flatMap((id) => byId.get(id) ?? []);
  const moved = rows.filter(({ id, rank }) => kept.ranks.has(id) && kept.ranks.get(id) !== rank).length;
  return { rows, changed: moved + fresh.length };
}

/** The order of `arrived` as it was when `view` began, or when `showChanged` was called last. */
export function useKeptOrder(arrived: Row[], view: string) {
  const kept = useRef<Kept>(undefined);
  const [, redraw] = useState(0);
  const { rows, changed } = keepOrder(arrived, kept.current?.view === view ? kept.current : undefined);
  useEffect(() => {
    const known = kept.current?.view === view ? kept.current.ranks : new Map<string, Row['rank']>();
    kept.current = { view, ids: rows.map(({ id }) => id), ranks: new Map(rows.map(({ id, rank }) => [id, known.has(id) ? known.get(id) : rank])) };
  });
  const showChanged = () => {
    kept.current = undefined;
    redraw((count) => count + 1);
  };
  return { rows, changed, showChanged };
}
