// The map as a table: the same GPUs, the worst first. Few rows are in the document.
import { useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Link } from 'wouter';
import { StateBadge } from '../../../parts/state_badge';
import { type FleetData, type FleetHost, valueOf, valueText, zonesOf } from './fleet_data';
import type { Colouring } from './shades';

interface Row {
  host: FleetHost;
  gpu: number;
  badness: number;
}

const worst = ['faulty', 'unresponsive', 'gone', 'degraded'];

function rowsOf(data: FleetData): Row[] {
  const rows = zonesOf(data).flatMap(({ hosts }) =>
    hosts.flatMap((host) =>
      Array.from({ length: host.gpus }, (_, gpu) => {
        const place = worst.indexOf(String(valueOf(data, host, gpu, 'state')));
        return { host, gpu, badness: place < 0 ? worst.length : place };
      }),
    ),
  );
  return rows.sort((a, b) => a.badness - b.badness);
}

interface Props {
  data: FleetData;
  colouring: Colouring;
  onGpu: (host: string, place: number) => void;
}

export function FleetTable({ data, colouring, onGpu }: Props) {
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const rows = useMemo(() => rowsOf(data), [data]);
  const parent = useRef<HTMLDivElement>(null);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => 44, overscan: 6, scrollMargin: parent.current?.offsetTop ?? 0 });
  const shown = virtual.getVirtualItems();
  const margin = virtual.options.scrollMargin;
  const before = (shown[0]?.start ?? margin) - margin;
  const after = virtual.getTotalSize() - ((shown.at(-1)?.end ?? margin) - margin);
  const extra = [...new Set<string>(narrow ? [colouring] : ['use', colouring])].filter((column) => column !== 'state');
  const width = 3 + extra.length + (narrow ? 0 : 1);
  return (
    <div ref={parent} className="tile" style={{ padding: 0 }}>
      <table className="list" aria-label="GPUs" aria-rowcount={rows.length}>
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col" style={{ width: 72 }}>GPU</th>
            {!narrow && <th scope="col">Zone</th>}
            <th scope="col">State</th>
            {extra.map((column) => <th key={column} scope="col" className="capital">{column}</th>)}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr className="spacer" aria-hidden><td colSpan={width} style={{ height: before }} /></tr>}
          {shown.map(({ index, key }) => {
            const row = rows[index];
            if (!row) return null;
            const { host, gpu } = row;
            return (
              <tr key={key} aria-rowindex={index + 1}>
                <td><Link href={`/hosts/${encodeURIComponent(host.id)}`}>{host.name}</Link></td>
                <td>
                  <button type="button" className="link" aria-label={`GPU ${gpu} of ${host.name}`} onClick={() => onGpu(host.id, gpu)}>{gpu}</button>
                </td>
                {!narrow && <td>{host.zone}</td>}
                <td><StateBadge state={valueText(data, host, gpu, 'state')} /></td>
                {extra.map((column) => <td key={column}>{valueText(data, host, gpu, column)}</td>)}
              </tr>
            );
          })}
          {after > 0 && <tr className="spacer" aria-hidden><td colSpan={width} style={{ height: after }} /></tr>}
        </tbody>
      </table>
    </div>
  );
}
