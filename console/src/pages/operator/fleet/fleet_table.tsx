// The map as a table: the same GPUs, the worst first unless a column is chosen. Only visible rows are in the document.
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Link } from 'wouter';
import { HeadCell } from '../../../parts/list_page';
import { useOrder } from '../../../parts/list_rows';
import { StateBadge } from '../../../parts/state_badge';
import { type FleetData, valueText } from './fleet_data';
import { orderedRows, type Row, useKeptOrder } from './fleet_rows';
import type { Colouring } from './shades';

interface Props {
  data: FleetData;
  colouring: Colouring;
  /** Changes with the page of hosts. */
  zone: string;
  onGpu: (host: string, place: number) => void;
}

const noValue = () => undefined;
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Columns after host, GPU and zone; each is a column of the fleet. */
function valueColumns(narrow: boolean | undefined, colouring: Colouring): string[] {
  return [...new Set<string>(narrow ? ['state', colouring] : ['state', 'use', colouring])];
}

function Cells({ row: { host, gpu }, data, columns, narrow, onGpu }: { row: Row; data: FleetData; columns: string[]; narrow?: boolean; onGpu: Props['onGpu'] }) {
  return (
    <>
      <td><Link href={`/hosts/${encodeURIComponent(host.id)}`}>{host.name}</Link></td>
      <td>
        <button type="button" className="link" aria-label={`GPU ${gpu} of ${host.name}`} onClick={() => onGpu(host.id, gpu)}>{gpu}</button>
      </td>
      {!narrow && <td>{host.zone}</td>}
      {columns.map((column) => {
        const text = valueText(data, host, gpu, column);
        return <td key={column}>{column === 'state' ? <StateBadge state={text} /> : text}</td>;
      })}
    </>
  );
}

export function FleetTable({ data, colouring, zone, onGpu }: Props) {
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [order, toggle] = useOrder();
  const arrived = useMemo(() => orderedRows(data, order), [data, order?.key, order?.down]);
  const { rows, changed, showChanged } = useKeptOrder(arrived, `${zone} ${order?.key} ${order?.down}`);
  const parent = useRef<HTMLDivElement>(null);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => 44, overscan: 6, scrollMargin: parent.current?.offsetTop ?? 0 });
  const shown = virtual.getVirtualItems();
  const margin = virtual.options.scrollMargin;
  const before = (shown[0]?.start ?? margin) - margin;
  const after = virtual.getTotalSize() - ((shown.at(-1)?.end ?? margin) - margin);
  const values = valueColumns(narrow, colouring);
  const heads = [['host', 'Host'], ['gpu', 'GPU'], ...(narrow ? [] : [['zone', 'Zone']]), ...values.map((column) => [column, capital(column)])];
  return (
    <>
      {changed > 0 && (
        <div className="follow-top">
          <Button size="compact-sm" radius="xl" onClick={showChanged}>{changed} changed ↑</Button>
        </div>
      )}
      <div ref={parent} className="tile" style={{ padding: 0 }}>
        <table className="list" aria-label="GPUs" aria-rowcount={rows.length}>
          <thead>
            <tr>
              {heads.map(([key = '', title = '']) => <HeadCell key={key} column={{ key, title, value: noValue, width: key === 'gpu' ? '72px' : undefined }} order={order} onOrder={toggle} />)}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr className="spacer" aria-hidden><td colSpan={heads.length} style={{ height: before }} /></tr>}
            {shown.map(({ index, key }) => {
              const row = rows[index];
              return row && <tr key={key} aria-rowindex={index + 1}><Cells row={row} data={data} columns={values} narrow={narrow} onGpu={onGpu} /></tr>;
            })}
            {after > 0 && <tr className="spacer" aria-hidden><td colSpan={heads.length} style={{ height: after }} /></tr>}
          </tbody>
        </table>
      </div>
    </>
  );
}
