// Volumes: a kind described once. List, form and detail are made from this.
import type { Schemas } from '../../api/client';
import { Ago, Id } from '../../parts/values';
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { InstanceName } from './instance_name';

const states = ['creating', 'available', 'attached', 'deleting', 'failed'] as const;

/** Instances that use it, by name. */
const users = ({ attachedTo, tenantID }: Schemas['Volume']) =>
  attachedTo.length > 0 ? attachedTo.map((id) => <InstanceName key={id} id={id} tenantID={tenantID} />) : undefined;

export const volumes = resource('/v1/volumes', {
  noun: 'volume',
  title: 'Volumes',
  page: '/volumes',
  kinds: ['volume'],
  permission: 'volume.read',
  id: (volume) => volume.id,
  name: (volume) => volume.name,
  place: ({ tenantID, project }) => ({ tenantID, project }),
  columns: [
    { key: 'name', title: 'Name', value: (volume) => volume.name },
    { key: 'state', title: 'State', value: (volume) => volume.state, cell: (volume) => <StateBadge state={volume.state} reason={volume.message} />, width: '140px' },
    { key: 'size', title: 'Size', value: (volume) => volume.size, width: '100px', align: 'right' },
    { key: 'zone', title: 'Zone', value: (volume) => volume.zone, width: '120px' },
    { key: 'attached', title: 'Used by', value: (volume) => volume.attachedTo.join(' '), cell: users },
    { key: 'tenant', title: 'Tenant', value: (volume) => volume.tenantID, width: '140px', wideOnly: true },
    { key: 'created', title: 'Made', value: (volume) => volume.createdAt, cell: (volume) => <Ago time={volume.createdAt} />, width: '130px' },
  ],
  filters: [
    { name: 'zone', label: 'Zone' },
    { name: 'state', label: 'State', values: states },
  ],
  empty: {
    text: 'A volume is a disk that outlives instances. It keeps data sets, models and notebooks.',
    command: 'hostler volume create models --size 10Gi',
  },
  create: {
    label: 'New volume',
    path: '/v1/volumes',
    permission: 'volume.write',
    command: 'volume create',
    argument: 'name',
    fields: [
      { name: 'name', label: 'Name', required: true, placeholder: 'models' },
      { name: 'size', label: 'Size', required: true, placeholder: '10Gi' },
      { name: 'zone', label: 'Zone', kind: 'choice', valuesFrom: { path: '/v1/zones', field: 'name' }, help: 'Without one it is made where it is first used.' },
      { name: 'tenantID', label: 'Tenant', help: 'Of operators; others have their own.', more: true },
      { name: 'project', label: 'Project', more: true },
    ],
    done: 'The volume is made.',
    then: (volume) => `/volumes/${String(volume.id)}`,
  },
  actions: [
    {
      label: 'Resize',
      method: 'PATCH',
      path: '/v1/volumes/{volume}',
      params: (volume) => ({ volume: volume.id }),
      permission: 'volume.write',
      command: 'volume resize',
      plan: (volume) => `The volume has ${volume.size}. It can grow; it cannot shrink.`,
      fields: [{ name: 'size', label: 'New size', required: true, placeholder: '20Gi' }],
      done: 'The volume grows.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/volumes/{volume}',
      params: (volume) => ({ volume: volume.id }),
      query: (volume) => ({ tenantID: volume.tenantID }),
      permission: 'volume.write',
      command: 'volume delete',
      plan: (volume) => `The volume ${volume.name} and all data in it are deleted. This cannot be undone.`,
      confirmName: (volume) => volume.name,
      done: 'The volume is being deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/volumes/{volume}',
    param: 'volume',
    badges: (volume) => <StateBadge state={volume.state} reason={volume.message} />,
    facts: (volume) => [
      { name: 'Id', value: <Id value={volume.id} /> },
      { name: 'Size', value: volume.size },
      { name: 'Zone', value: volume.zone },
      { name: 'Tenant', value: volume.tenantID },
      { name: 'Project', value: volume.project },
      { name: 'Used by', value: users(volume) },
      { name: 'Made', value: <Ago time={volume.createdAt} /> },
      { name: 'Made by', value: volume.createdBy },
    ],
  },
});
