import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { Unknown } from '../../parts/values';

interface Props<T> {
  label: string;
  rows: T[];
  id: (row: T) => string;
  columns: { title: string; cell: (row: T) => ReactNode }[];
}

/** A table within a page; a narrow page scrolls it sideways. */
export function SmallTable<T>({ label, rows, id, columns }: Props<T>) {
  return (
    <Table.ScrollContainer minWidth={110 * columns.length} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing={6} aria-label={label}>
        <Table.Thead>
          <Table.Tr>{columns.map(({ title }) => <Table.Th key={title} scope="col" fz="xs">{title}</Table.Th>)}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={id(row)}>
              {columns.map(({ title, cell }) => <Table.Td key={title}>{cell(row) || <Unknown />}</Table.Td>)}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
