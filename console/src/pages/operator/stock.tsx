// Stock: slots of a spec that hold resources in advance, so that instances start within seconds.
import { Group } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { Section } from '../../parts/page_frame';
import { type FormField, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { SmallTable } from './small_table';

type Stock = Schemas['Stock'];

const shape: FormField[] = [
  { name: 'cpu', label: 'CPUs of an instance', placeholder: '8', help: 'Needed for a new spec.' },
  { name: 'memory', label: 'Memory of an instance', placeholder: '32Gi', help: 'Needed for a new spec.' },
  { name: 'gpuType', label: 'GPU model', placeholder: 'H100 SXM5 80GB', help: 'Needed for a new spec.' },
  { name: 'gpuNum', label: 'GPUs of an instance', kind: 'number', placeholder: '1', help: 'All on one host. Needed for a new spec.' },
];

const stateOf = (stock: Stock) => (stock.missing > 0 ? 'missing' : stock.preparing > 0 ? 'preparing' : 'ready');

function State({ stock }: { stock: Stock }) {
  const state = stateOf(stock);
  return <StateBadge state={state} reason={stock.message} tone={state === 'missing' ? 'warn' : undefined} />;
}

const figures = [
  { title: 'Wanted', cell: (one: Schemas['StockInZone']) => String(one.wanted) },
  { title: 'Idle', cell: (one: Schemas['StockInZone']) => String(one.idle) },
  { title: 'In use', cell: (one: Schemas['StockInZone']) => String(one.inUse) },
  { title: 'Preparing', cell: (one: Schemas['StockInZone']) => String(one.preparing) },
  { title: 'Missing', cell: (one: Schemas['StockInZone']) => String(one.missing) },
];

function Zones({ stock }: { stock: Stock }) {
  return (
    <Section title="By zone">
      <SmallTable label="By zone" rows={stock.zones} id={({ zone }) => zone} columns={[{ title: 'Zone', cell: ({ zone }) => zone }, ...figures]} />
    </Section>
  );
}

function Images({ stock }: { stock: Stock }) {
  if (stock.images.length === 0) return null;
  return (
    <Section title="Images in advance">
      <SmallTable
        label="Images"
        rows={stock.images}
        id={({ image }) => image}
        columns={[
          { title: 'Image', cell: ({ image }) => image },
          { title: 'Template', cell: ({ template }) => template },
          { title: 'Present', cell: ({ present, hosts }) => `${present} of ${hosts} hosts` },
          { title: 'Pulling', cell: ({ pulling }) => String(pulling) },
          { title: 'Failed', cell: ({ failed }) => String(failed) },
          { title: 'Why', cell: ({ message }) => message },
        ]}
      />
    </Section>
  );
}

export const stock = resource('/v1/stocks', {
  noun: 'spec',
  plural: 'specs',
  title: 'Stock',
  page: '/stock',
  kinds: ['stock'],
  permission: 'stock.read',
  id: (one) => one.specName,
  name: (one) => one.specName,
  columns: [
    { key: 'spec', title: 'Spec', value: (one) => one.specName },
    { key: 'state', title: 'State', value: stateOf, cell: (one) => <State stock={one} />, width: '140px' },
    { key: 'wanted', title: 'Wanted', value: (one) => one.wanted, width: '100px', align: 'right' },
    { key: 'idle', title: 'Idle', value: (one) => one.idle, width: '90px', align: 'right' },
    { key: 'inUse', title: 'In use', value: (one) => one.inUse, width: '90px', align: 'right' },
    { key: 'preparing', title: 'Preparing', value: (one) => one.preparing, width: '110px', align: 'right' },
    { key: 'missing', title: 'Missing', value: (one) => one.missing, width: '100px', align: 'right' },
    { key: 'images', title: 'Images', value: (one) => one.imagesPresent },
  ],
  filters: [{ name: 'zone', label: 'Zone' }],
  empty: {
    text: 'Stock holds resources in advance, so that instances of its spec start within seconds.',
    command: "hostler stock create h100-1 --number 4 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1",
  },
  create: {
    label: 'New stock',
    lead: 'Adds slots. A spec that does not exist yet is created.',
    path: '/stocks',
    permission: 'stock.write',
    command: 'stock create',
    argument: 'specName',
    fields: [
      { name: 'specName', label: 'Spec', required: true, placeholder: 'h100-1' },
      { name: 'number', label: 'Slots to add', kind: 'number', required: true, placeholder: '4' },
      ...shape,
    ],
    done: 'The slots are added.',
  },
  actions: [
    {
      label: 'Add slots',
      method: 'POST',
      path: '/stocks',
      body: (one) => ({ specName: one.specName }),
      permission: 'stock.write',
      command: 'stock create',
      plan: (one) => `${one.wanted} slots are wanted now, ${one.idle} are idle. Each new one holds resources of a host, used or not.`,
      fields: [{ name: 'number', label: 'Slots to add', kind: 'number', required: true }],
      done: 'The slots are added.',
    },
    {
      label: 'Prepare images',
      method: 'PUT',
      path: '/v1/stocks/{spec}/images',
      params: (one) => ({ spec: one.specName }),
      permission: 'stock.write',
      command: 'stock prepare',
      plan: (one) => `Hosts of this stock pull these images in advance; they replace those that are wanted now${one.images.length ? `: ${one.images.map(({ image, template }) => template || image).join(', ')}.` : ' (none).'}`,
      fields: [
        { name: 'images', label: 'Images', kind: 'words', placeholder: 'docker.io/library/nginx:1.27' },
        { name: 'templates', label: 'Templates', kind: 'words', valuesFrom: { path: '/v1/templates', field: 'name' } },
      ],
      done: 'The hosts prepare the images.',
    },
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/stocks/{spec}',
      params: (one) => ({ spec: one.specName }),
      permission: 'stock.write',
      command: 'stock edit',
      plan: (one) => `Idle slots are reclaimed now: ${one.reclaim}; kept at least: ${one.keep}.`,
      fields: [
        { name: 'reclaim', label: 'Reclaim idle slots for instances that find no other room', kind: 'choice', values: ['never', 'idle'] },
        { name: 'keep', label: 'Idle slots to keep', kind: 'number' },
      ],
      done: 'The stock is changed.',
    },
    {
      label: 'Remove slots',
      method: 'DELETE',
      path: '/stocks',
      body: (one) => ({ specName: one.specName }),
      permission: 'stock.write',
      command: 'stock delete',
      plan: (one) => `Idle slots of ${one.specName} are removed; ${one.idle} are idle. Instances keep theirs.`,
      fields: [{ name: 'number', label: 'Slots to remove', kind: 'number', required: true }],
      confirmName: (one) => one.specName,
      done: 'The slots are removed.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/stocks/{spec}',
    param: 'spec',
    badges: (one) => <Group gap="xs"><State stock={one} /></Group>,
    facts: (one) => [
      { name: 'Wanted', value: String(one.wanted) },
      { name: 'Idle', value: String(one.idle) },
      { name: 'In use', value: String(one.inUse) },
      { name: 'Preparing', value: String(one.preparing) },
      { name: 'Missing', value: one.missing > 0 ? `${one.missing}: ${one.message}` : '0' },
      { name: 'Images present', value: one.imagesPresent },
      { name: 'Reclaimed', value: one.reclaim },
      { name: 'Kept idle', value: String(one.keep) },
    ],
    sections: (one) => <><Zones stock={one} /><Images stock={one} /></>,
  },
});
