// A list of a kind: search, filters and order in the URL, pages by the API's cursors, few rows in the document.
import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useElementSize, useHotkeys, useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, ListFilter, Search } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { usePermission } from '../api/permissions';
import type { Problem } from '../api/problem';
import { Action } from './action';
import { type Order, useOrder, useRows } from './list_rows';
import { PageFrame } from './page_frame';
import { type Column, type Filter, type Resource, rowKeyOf } from './resource';
import { RowDialogs } from './row_dialog';
import { Empty, Loading, Refusal } from './states';
import { Unknown } from './values';
import { useTypedWord, useUrlWord } from './url_state';
import { clockText } from './words';

export function itemLink<T>(kind: Resource<T>, item: T): string {
  const place = kind.place?.(item);
  const query = place?.tenantID ? `?tenantID=${encodeURIComponent(place.tenantID)}` : '';
  return `${kind.page}/${encodeURIComponent(kind.id(item))}${query}`;
}

/** Columns of a kind, with one for the actions of a row. */
export function columnsOf<T>(kind: Resource<T>): Column<T>[] {
  const deeds = (kind.actions ?? []).filter(({ label }) => kind.rowActions?.includes(label));
  if (deeds.length === 0) return kind.columns;
  const buttons = (item: T) => (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {deeds.map((deed) => <Action key={deed.label} deed={deed} item={item} kinds={kind.kinds} place={kind.place} button={{ size: 'compact-xs' }} />)}
    </Group>
  );
  return [...kind.columns, { key: '', title: 'Actions', value: () => undefined, cell: buttons, width: kind.actionsWidth ?? `${deeds.reduce((sum, { label }) => sum + label.length * 9 + 22, 24)}px`, align: 'right' }];
}

export function CellContent<T>({ column, item }: { column: Column<T>; item: T }) {
  const content: ReactNode = column.cell ? column.cell(item) : column.value(item);
  return content === undefined || content === '' || content === null ? <Unknown /> : <>{content}</>;
}

/** A word that the column cuts is whole in its title. */
function wholeText<T>(column: Column<T>, item: T): string | undefined {
  const value = column.value(item);
  return typeof value === 'string' && !column.cell ? value : undefined;
}

export function NameCell<T>({ kind, item, column }: { kind: Resource<T>; item: T; column: Column<T> }) {
  if (!kind.detail) return <CellContent column={column} item={item} />;
  return (
    <Link href={itemLink(kind, item)} data-row-link>
      {kind.name(item)}
    </Link>
  );
}

interface RowsProps<T> {
  kind: Resource<T>;
  rows: T[];
  order: Order | undefined;
  onOrder: (key: string) => void;
  active: number;
  more: () => void;
  /** Told which rows are on screen. */
  see: (rows: T[]) => void;
}

function useVirtualRows<T>({ kind, rows, more, see, active }: RowsProps<T>, height: number) {
  const parent = useRef<HTMLDivElement>(null);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 6,
    getItemKey: useCallback((index: number) => rowKeyOf(kind, rows[index] as T), [kind, rows]),
    scrollMargin: parent.current?.offsetTop ?? 0,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= rows.length - 10) more();
  }, [last, rows.length, more]);
  const first = shown[0]?.index ?? 0;
  useEffect(() => see(rows.slice(first, last + 1)), [first, last, rows]);
  useEffect(() => {
    if (active < 0) return;
    const link = parent.current?.querySelector<HTMLElement>(`[data-index="${active}"] [data-row-link]`);
    // A row that was scrolled away is not in the document: go there, then its link takes the focus with the next key.
    if (link) link.focus();
    else virtual.scrollToIndex(active);
  }, [active]);
  const margin = virtual.options.scrollMargin;
  const before = (shown[0]?.start ?? margin) - margin;
  const after = virtual.getTotalSize() - ((shown.at(-1)?.end ?? margin) - margin);
  return { parent, shown, before, after, measure: virtual.measureElement };
}

export function HeadCell<T>({ column, order, onOrder }: { column: Column<T>; order?: Order; onOrder: (key: string) => void }) {
  const own = order?.key === column.key ? order : undefined;
  if (!column.key) return <th scope="col" style={{ width: column.width, textAlign: column.align }}>{column.title}</th>;
  return (
    <th scope="col" style={{ width: column.width, textAlign: column.align }} aria-sort={own ? (own.down ? 'descending' : 'ascending') : undefined}>
      <button type="button" className="order" onClick={() => onOrder(column.key)}>
        {column.title}
        {own && (own.down ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
      </button>
    </th>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="spacer" aria-hidden>
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

/** Minimum width of a column in pixels. Columns in percent, or without a width, have room for a name. */
const widthOf = <T,>({ width }: Column<T>) => (width?.endsWith('px') ? Number.parseInt(width, 10) : 160);
export const widthOfAll = <T,>(columns: Column<T>[]) => columns.reduce((sum, column) => sum + widthOf(column), 0);

/** The columns that fit into `pixels`: `wideOnly` columns are left out, the last first. 0: the width is unknown. */
export function fitting<T>(columns: Column<T>[], pixels: number): Column<T>[] {
  const last = columns.findLastIndex(({ wideOnly }) => wideOnly);
  if (pixels === 0 || last < 0 || widthOfAll(columns) <= pixels) return columns;
  return fitting(columns.filter((_, place) => place !== last), pixels);
}

function TableRows<T>(props: RowsProps<T>) {
  const { kind, rows, order, onOrder, active } = props;
  const { parent, shown, before, after } = useVirtualRows(props, 44);
  const { ref, width } = useElementSize();
  const columns = fitting(columnsOf(kind), width);
  return (
    <div ref={ref}>
      <div ref={parent} className="tile" style={{ padding: 0, overflowX: 'auto' }}>
        <table className="list" style={{ minWidth: widthOfAll(columns) }} aria-rowcount={rows.length} aria-label={kind.title}>
          <thead>
            <tr>
              {columns.map((column) => (
                <HeadCell key={column.key} column={column} order={order} onOrder={onOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Spacer height={before} columns={columns.length} />
            {shown.map(({ index, key }) => {
              const item = rows[index] as T;
              return (
                <tr key={key} data-index={index} className={index === active ? 'active' : undefined}>
                  {columns.map((column, place) => (
                    <td key={column.key} style={{ textAlign: column.align }} title={wholeText(column, item)}>
                      {place === 0 ? <NameCell kind={kind} item={item} column={column} /> : <CellContent column={column} item={item} />}
                    </td>
                  ))}
                </tr>
              );
            })}
            <Spacer height={after} columns={columns.length} />
          </tbody>
        </table>
      </div>
    </div>
  );
}

function CardRows<T>(props: RowsProps<T>) {
  const { kind, rows } = props;
  const { parent, shown, before, after, measure } = useVirtualRows(props, 150);
  const [first, ...others] = columnsOf(kind).filter((column) => !column.wideOnly);
  return (
    <div ref={parent}>
      <ul className="cards" aria-label={kind.title} style={{ paddingTop: before, paddingBottom: after }}>
        {shown.map(({ index, key }) => {
          const item = rows[index] as T;
          return (
            <li key={key} data-index={index} ref={measure}>
              <div className="tile">
                {first && <NameCell kind={kind} item={item} column={first} />}
                <dl className="pairs">
                  {others.map((column) => (
                    <div key={column.key} style={{ display: 'contents' }}>
                      <dt>{column.title}</dt>
                      <dd><CellContent column={column} item={item} /></dd>
                    </div>
                  ))}
                </dl>
              </div>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Rows<T>(props: RowsProps<T>) {
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  return narrow ? <CardRows {...props} /> : <TableRows {...props} />;
}

const pluralOf = <T,>({ plural, title }: Resource<T>) => plural ?? title.toLowerCase();

function FilterChoice({ filter: { name, label, values = [] } }: { filter: Filter }) {
  const [value, setValue] = useUrlWord(name);
  return <Select aria-label={label} placeholder={label} data={[...values]} value={value || null} onChange={(next) => setValue(next ?? '')} clearable w={160} />;
}

function FilterText({ filter: { name, label } }: { filter: Filter }) {
  const [typed, type] = useTypedWord(name);
  return <TextInput aria-label={label} placeholder={label} value={typed} onChange={(event) => type(event.currentTarget.value)} w={160} />;
}

function SearchInput({ title }: { title: string }) {
  const [typed, type] = useTypedWord('q');
  const input = useRef<HTMLInputElement>(null);
  useHotkeys([['/', () => input.current?.focus()]]);
  return (
    <TextInput
      ref={input}
      aria-label={`Search ${title}`}
      placeholder="Search ( / )"
      leftSection={<Search size={14} aria-hidden />}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
      style={{ flex: '1 1 200px' }}
      maw={360}
    />
  );
}

/** A query in the API's language, over all pages. Its errors stand below. */
function QueryInput({ title, example, problem }: { title: string; example: string; problem: Problem | null }) {
  // A half-typed term is invalid: the API is asked when the typing has paused.
  const [typed, type] = useTypedWord('query', 600);
  const wrong = queryProblems(problem);
  return (
    <TextInput
      aria-label={`Query ${title}`}
      placeholder={`Query: ${example}`}
      leftSection={<ListFilter size={14} aria-hidden />}
      value={typed}
      error={wrong.length > 0 ? wrong.join('. ') : undefined}
      maxLength={512}
      spellCheck={false}
      autoCapitalize="off"
      onChange={(event) => type(event.currentTarget.value)}
      style={{ flex: '1 1 200px' }}
      maw={360}
    />
  );
}

const queryProblems = (problem: Problem | null): string[] =>
  (problem?.errors ?? []).flatMap(({ field, message }) => (field === 'query' ? [message] : []));

function useActiveRow(count: number): number {
  const [active, setActive] = useState(-1);
  const move = (step: number) => setActive((at) => Math.max(0, Math.min(count - 1, at + step)));
  useHotkeys([['j', () => move(1)], ['k', () => move(-1)]]);
  return active;
}

function CreateButton<T>({ kind }: { kind: Resource<T> }) {
  const permitted = usePermission(kind.create?.permission);
  if (!kind.create || !permitted) return null;
  return <Button component={Link} href={`${kind.page}/new`}>{kind.create.label}</Button>;
}

/** Words of the list's query that the filters set in the URL. */
function useFilterQuery<T>({ filters = [], queryExample }: Resource<T>): Record<string, string> {
  const [params] = useSearchParams();
  const names = filters.map(({ name }) => name);
  if (queryExample !== false) names.push('query');
  return Object.fromEntries(names.map((name) => [name, params.get(name) ?? '']));
}

/** The rows with search and filters, without the frame of a page; for lists within other pages. */
export function ListView<T>({ kind, emptyAction }: { kind: Resource<T>; emptyAction?: ReactNode }) {
  const [search] = useUrlWord('q');
  const [order, toggle] = useOrder();
  const query = useFilterQuery(kind);
  const { rows, fresh, showFresh, list, loaded, see } = useRows(kind, search, order, query);
  const active = useActiveRow(rows.length);
  const filtered = search !== '' || Object.values(query).some(Boolean);
  const more = () => {
    if (list.hasNextPage && !list.isFetching && !list.isError) void list.fetchNextPage();
  };
  // A match may stand on a later page.
  const seeks = rows.length === 0 && list.hasNextPage && !list.isError;
  useEffect(() => {
    if (seeks) more();
  });

  // The field says it.
  const onlyQuery = list.error !== null && list.error.errors.length > 0 && queryProblems(list.error).length === list.error.errors.length;

  const content = () => {
    if (!list.data) return !list.error && <Loading lines={8} />;
    if (rows.length === 0 && (seeks || list.isPlaceholderData)) return <Loading lines={8} />;
    if (loaded === 0 && !filtered)
      return <Empty text={kind.empty.text} command={kind.empty.command} action={emptyAction ?? <CreateButton kind={kind} />} />;
    if (rows.length === 0) return <Empty text={`No ${pluralOf(kind)} match the search and the filters.`} />;
    return <RowDialogs><Rows kind={kind} rows={rows} order={order} onOrder={toggle} active={active} more={more} see={see} /></RowDialogs>;
  };
  return (
    <>
      <Group gap="xs" align="flex-start">
        <SearchInput title={kind.title} />
        {kind.queryExample !== false && <QueryInput title={kind.title} example={kind.queryExample ?? 'FIELD=VALUE'} problem={list.error} />}
        {kind.filters?.map((filter) => (filter.values ? <FilterChoice key={filter.name} filter={filter} /> : <FilterText key={filter.name} filter={filter} />))}
        <Text fz="sm" c="dimmed" aria-live="polite">
          {list.data && (loaded > 0 || filtered) && (
            <>
              {rows.length}{list.hasNextPage ? '+' : ''} {rows.length === 1 ? kind.noun : pluralOf(kind)}
              {filtered && list.hasNextPage && ` in the first ${loaded}`}
            </>
          )}
        </Text>
      </Group>
      {list.error && !onlyQuery && <Refusal problem={list.error} retry={() => void list.refetch()} />}
      {list.error && list.data && <Text fz="sm" c="dimmed">as of {clockText(list.dataUpdatedAt)}</Text>}
      {fresh > 0 && (
        <div className="follow-top">
          <Button size="compact-sm" radius="xl" onClick={showFresh}>{fresh} new ↑</Button>
        </div>
      )}
      <div className={list.error || list.isPlaceholderData ? 'stale' : undefined}>{content()}</div>
    </>
  );
}

/** The page of a list. */
export function ListPage<T>({ kind }: { kind: Resource<T> }) {
  return (
    <PageFrame title={kind.title} lead={kind.lead} actions={<CreateButton kind={kind} />}>
      {kind.above?.()}
      <ListView kind={kind} />
    </PageFrame>
  );
}
