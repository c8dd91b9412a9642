// A short list of a kind within another page: its columns and row actions, without search and filters.
import { Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { filled, type ListPath, type Query } from '../api/client';
import { useList } from '../api/use_read';
import { CellContent, columnsOf, NameCell } from './list_page';
import { type Column, type Resource, rowKeyOf } from './resource';
import { RowDialogs } from './row_dialog';
import { Loading, Refusal } from './states';

interface Props<T> {
  kind: Resource<T>;
  query?: Query;
  /** Of the path. */
  params?: Record<string, string>;
  empty: string;
  /** Keys of columns that the page says already. */
  without?: string[];
}

interface Drawn<T> {
  kind: Resource<T>;
  items: T[];
  columns: Column<T>[];
}

function Cell<T>({ kind, item, column, first }: { kind: Resource<T>; item: T; column: Column<T>; first: boolean }) {
  return first ? <NameCell kind={kind} item={item} column={column} /> : <CellContent column={column} item={item} />;
}

function Table<T>({ kind, items, columns }: Drawn<T>) {
  return (
    <table className="list" aria-label={kind.title}>
      <thead>
        <tr>{columns.map(({ key, title, width, align }) => <th key={key} scope="col" style={{ width, textAlign: align }}>{title}</th>)}</tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={rowKeyOf(kind, item)}>
            {columns.map((column, index) => (
              <td key={column.key} style={{ textAlign: column.align }}><Cell kind={kind} item={item} column={column} first={index === 0} /></td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cards<T>({ kind, items, columns }: Drawn<T>) {
  return (
    <ul className="cards" aria-label={kind.title}>
      {items.map((item) => (
        <li key={rowKeyOf(kind, item)}>
          <dl className="pairs">
            {columns.map((column, index) => (
              <div key={column.key} style={{ display: 'contents' }}>
                <dt>{column.title}</dt>
                <dd><Cell kind={kind} item={item} column={column} first={index === 0} /></dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

export function SmallList<T>({ kind, query = {}, params, empty, without = [] }: Props<T>) {
  const path = filled(kind.path, params) as ListPath & string;
  const list = useList(path, { limit: 100, ...kind.query, ...query }, { kinds: kind.kinds });
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  if (list.error && !list.data) return <Refusal problem={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading lines={2} />;
  const items = list.data.pages.flatMap((page) => page.items as T[]);
  if (items.length === 0) return <Text c="dimmed">{empty}</Text>;
  const columns = columnsOf(kind).filter(({ key }) => !without.includes(key));
  const Drawing = narrow ? Cards : Table;
  return <RowDialogs><Drawing kind={kind} items={items} columns={columns} /></RowDialogs>;
}
