// Rows of a list: loaded by pages, filtered, ordered, and settled so that none moves under the pointer.
import { getCoreRowModel, getFilteredRowModel, getSortedRowModel, type ColumnDef, useReactTable } from '@tanstack/react-table';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Query } from '../api/client';
import { useList, useSeen } from '../api/use_read';
import { type Resource, rowKeyOf } from './resource';
import { settle } from './settle';
import { useUrlWord } from './url_state';

export interface Order {
  key: string;
  down: boolean;
}

export function useOrder(): [Order | undefined, (key: string) => void] {
  const [word, setWord] = useUrlWord('order');
  const order = word ? { key: word.replace(/^-/, ''), down: word.startsWith('-') } : undefined;
  const toggle = (key: string) => {
    if (order?.key !== key) setWord(key);
    else setWord(order.down ? '' : `-${key}`);
  };
  return [order, toggle];
}

function useArranged<T>(kind: Resource<T>, items: T[], search: string, order: Order | undefined): T[] {
  const columns = useMemo<ColumnDef<T>[]>(
    () => kind.columns.map((column) => ({ id: column.key, accessorFn: column.value, sortUndefined: 'last' })),
    [kind],
  );
  const sorting = useMemo(() => (order ? [{ id: order.key, desc: order.down }] : []), [order?.key, order?.down]);
  const table = useReactTable({
    data: items,
    columns,
    state: { globalFilter: search, sorting },
    autoResetAll: false, // It would set state with each new order, and so draw without end.
    getRowId: (item) => rowKeyOf(kind, item),
    globalFilterFn: 'includesString',
    getColumnCanGlobalFilter: () => true,
    getCoreRowModel: getCoreRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return table.getRowModel().rows.map((row) => row.original);
}

/** `view` names the filters and the order: another one shows all that has arrived. */
function useSettled<T>(kind: Resource<T>, arrived: T[], view: string) {
  const shown = useRef<{ view: string; order: string[] }>({ view, order: [] });
  const [, redraw] = useState(0);
  const ids = arrived.map((item) => rowKeyOf(kind, item));
  const before = shown.current.view === view ? shown.current.order : [];
  const settled = settle(before, ids);
  useEffect(() => {
    shown.current = { view, order: settled.order };
  });
  const byId = new Map(arrived.map((item) => [rowKeyOf(kind, item), item]));
  const rows = settled.order.flatMap((id) => byId.get(id) ?? []);
  const showFresh = () => {
    shown.current = { view, order: [] };
    redraw((count) => count + 1);
  };
  return { rows, fresh: settled.fresh.length, showFresh };
}

export function useRows<T>(kind: Resource<T>, search: string, order: Order | undefined, query: Query) {
  const asked = { limit: 100, ...kind.query, ...query };
  const list = useList(kind.path, asked, { kinds: kind.kinds, keepPrevious: true });
  const seen = useSeen(kind.path, asked);
  const items = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items as T[]), [list.data]);
  const pageOf = useMemo(() => new Map((list.data?.pages ?? []).flatMap((page, at) => page.items.map((item) => [item as T, at]))), [list.data]);
  const arranged = useArranged(kind, items, search, order);
  const view = JSON.stringify([search, order, query, list.isPlaceholderData]);
  const settled = useSettled(kind, arranged, view);
  const see = (shown: T[]) => seen(new Set(shown.flatMap((item) => pageOf.get(item) ?? [])));
  return { ...settled, list, loaded: items.length, see };
}
