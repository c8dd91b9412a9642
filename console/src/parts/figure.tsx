import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** One figure in a tile, with its name, and a page behind it. */
export function Figure({ name, note, to, children }: { name: string; note?: string; to?: string; children: ReactNode }) {
  return (
    <div className="tile">
      <Text fz="xs" c="dimmed">{name}</Text>
      <div className="figure">{to ? <Link href={to} className="plain">{children}</Link> : children}</div>
      {note && <Text fz="xs" c="dimmed">{note}</Text>}
    </div>
  );
}
