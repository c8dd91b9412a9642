// Specs, prices and offers: the shapes of instances, their price, and what is available.
import type { Schemas } from '../../api/client';
import { Action } from '../../parts/action';
import { type Deed, type FormField, resource } from '../../parts/resource';
import { Ago, Money } from '../../parts/values';
import { bytesText } from '../../parts/words';

const shape: FormField[] = [
  { name: 'cpu', label: 'CPUs', placeholder: '8' },
  { name: 'memory', label: 'Memory', placeholder: '32Gi' },
  { name: 'gpuType', label: 'GPU model', placeholder: 'H100 SXM5 80GB' },
  { name: 'gpuNum', label: 'GPUs', kind: 'number', help: 'All on one host.' },
];

export const specs = resource('/v1/specs', {
  noun: 'spec',
  title: 'Specs',
  page: '/specs',
  kinds: ['spec'],
  permission: 'spec.read',
  id: (spec) => spec.name,
  name: (spec) => spec.name,
  columns: [
    { key: 'name', title: 'Name', value: (spec) => spec.name },
    { key: 'gpus', title: 'GPUs', value: (spec) => spec.gpuNum, cell: (spec) => (spec.gpuNum > 0 ? `${spec.gpuNum} × ${spec.gpuType}` : 'none') },
    { key: 'cpu', title: 'CPUs', value: (spec) => spec.cpu, width: '100px', align: 'right' },
    { key: 'memory', title: 'Memory', value: (spec) => spec.memory, width: '120px', align: 'right' },
    { key: 'created', title: 'Made', value: (spec) => spec.createdAt, cell: (spec) => <Ago time={spec.createdAt} />, width: '130px' },
  ],
  empty: { text: 'A spec is the shape of an instance: GPUs, CPUs and memory.', command: "hostler spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1" },
  create: {
    label: 'New spec',
    path: '/v1/specs',
    permission: 'spec.write',
    command: 'spec create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'h100-1' }, ...shape.map((field) => ({ ...field, required: field.name !== 'gpuType' && field.name !== 'gpuNum' }))],
    done: 'The spec is made.',
    then: (spec) => `/specs/${String(spec.name)}`,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/specs/{spec}',
      params: (spec) => ({ spec: spec.name }),
      permission: 'spec.write',
      command: 'spec edit',
      plan: () => 'With stock or instances of the spec this is refused. Empty fields stay as they are.',
      fields: shape,
      done: 'The spec is changed.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/specs/{spec}',
      params: (spec) => ({ spec: spec.name }),
      permission: 'spec.write',
      command: 'spec delete',
      plan: (spec) => `The spec ${spec.name} is deleted. With stock or instances of it this is refused.`,
      confirmName: (spec) => spec.name,
      done: 'The spec is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/specs/{spec}',
    param: 'spec',
    facts: (spec) => [
      { name: 'GPUs', value: spec.gpuNum > 0 ? `${spec.gpuNum} × ${spec.gpuType}` : 'none' },
      { name: 'CPUs', value: spec.cpu },
      { name: 'Memory', value: spec.memory },
      { name: 'Made', value: <Ago time={spec.createdAt} /> },
    ],
  },
});

type Price = Schemas['Price'];

const endPrice: Deed<Price> = {
  label: 'End',
  method: 'DELETE',
  path: '/v1/prices',
  query: ({ gpuType, zone, trust, isolation, version }) => ({ gpuType, zone, trust, isolation, ifVersion: String(version) }),
  permission: 'price.write',
  command: 'price remove',
  plan: (price) => `The price of ${price.gpuType} ends now. Instances of it cost what another price says, or nothing.`,
  confirmName: (price) => price.gpuType,
  done: 'The price has ended.',
  when: (price) => price.until === undefined,
  danger: true,
};

export const prices = resource('/v1/prices', {
  noun: 'price',
  title: 'Prices',
  page: '/prices',
  kinds: ['price'],
  permission: 'price.read',
  id: (price) => price.id,
  name: (price) => price.gpuType,
  lead: 'Of one GPU for an hour. The price that fits a GPU most closely counts.',
  columns: [
    { key: 'gpuType', title: 'GPU models', value: (price) => price.gpuType },
    { key: 'amount', title: 'Price', value: (price) => Number(price.amount), cell: (price) => <Money amount={price.amount} currency={price.currency} per="h" />, width: '150px', align: 'right' },
    { key: 'zone', title: 'Zone', value: (price) => price.zone ?? 'all', width: '110px' },
    { key: 'trust', title: 'Trust', value: (price) => price.trust ?? 'any', width: '120px' },
    { key: 'isolation', title: 'Isolation', value: (price) => (price.isolation ?? 'any').replaceAll('_', ' '), width: '150px' },
    { key: 'since', title: 'Since', value: (price) => price.since, cell: (price) => <Ago time={price.since} />, width: '120px' },
    { key: 'until', title: 'Until', value: (price) => price.until, cell: (price) => (price.until ? <Ago time={price.until} /> : 'in force'), width: '120px' },
    { key: 'end', title: 'Actions', value: () => '', cell: (price) => <Action deed={endPrice} item={price} kinds={['price']} />, width: '110px' },
  ],
  filters: [{ name: 'past', label: 'Past ones, too', values: ['true'] }],
  empty: { text: 'A price says what a GPU costs for an hour. Without one, usage is counted and costs nothing.', command: 'hostler price set H100 --amount 2.49 --currency USD' },
  create: {
    label: 'Set a price',
    lead: 'From now on. It replaces the price of the same GPUs; what was used before keeps its price.',
    method: 'PUT',
    path: '/v1/prices',
    permission: 'price.write',
    command: 'price set',
    argument: 'gpuType',
    fields: [
      { name: 'gpuType', label: 'GPU models', required: true, placeholder: 'H100', help: 'Words of their names; any: all models without a price.' },
      { name: 'amount', label: 'Amount', required: true, placeholder: '2.49' },
      { name: 'currency', label: 'Currency', placeholder: 'USD', help: 'The same for all prices.' },
      { name: 'zone', label: 'Zone', kind: 'choice', valuesFrom: { path: '/v1/zones', field: 'name' }, more: true },
      { name: 'trust', label: 'Trust', kind: 'choice', values: ['trusted', 'community'], more: true },
      { name: 'isolation', label: 'Isolation', kind: 'choice', values: ['user_namespace', 'container'], more: true },
    ],
    done: 'The price is set.',
  },
});

export const offers = resource('/v1/offers', {
  noun: 'offer',
  title: 'Offers',
  page: '/offers',
  kinds: ['spec', 'stock', 'host', 'price'],
  permission: 'offer.read',
  id: (offer) => [offer.spec, offer.zone, offer.gpuType, offer.isolation, offer.trust, offer.tier].join(' '),
  name: (offer) => offer.spec,
  columns: [
    { key: 'spec', title: 'Spec', value: (offer) => offer.spec },
    { key: 'gpu', title: 'GPUs', value: (offer) => offer.gpuType, cell: (offer) => (offer.gpus > 0 ? `${offer.gpus} × ${offer.gpuType}, ${bytesText(offer.gpuMemoryBytes)}` : 'none') },
    { key: 'zone', title: 'Zone', value: (offer) => offer.zone, width: '80px' },
    { key: 'ready', title: 'Ready', value: (offer) => offer.ready, width: '90px', align: 'right' },
    { key: 'available', title: 'Available', value: (offer) => offer.available, width: '110px', align: 'right' },
    { key: 'reclaimable', title: 'Reclaimable', value: (offer) => offer.reclaimable, width: '110px', align: 'right', wideOnly: true },
    { key: 'price', title: 'Price', value: (offer) => (offer.price === undefined ? undefined : Number(offer.price)), cell: (offer) => <Money amount={offer.price} currency={offer.currency} per="h" />, width: '130px', align: 'right' },
    { key: 'tier', title: 'Tier', value: (offer) => offer.tier, width: '90px' },
    { key: 'trust', title: 'Trust', value: (offer) => offer.trust, width: '90px' },
  ],
  queryExample: 'zone=lon gpus>=2',
  empty: { text: 'Offers are the shapes that can be started, zone by zone. They come from specs and hosts.', command: 'hostler offers' },
});
