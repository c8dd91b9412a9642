// Zones: sites where hosts stand.
import { Link } from 'wouter';
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';

const place = [
  { name: 'location', label: 'Location', placeholder: 'Newark, New Jersey', help: 'For people.' },
  { name: 'coordinates', label: 'Coordinates', placeholder: '40.7,-74.2', help: 'Degrees north and east.' },
] as const;

export const zones = resource('/v1/zones', {
  noun: 'zone',
  title: 'Zones',
  page: '/zones',
  kinds: ['zone', 'host', 'access-point'],
  permission: 'zone.read',
  id: (zone) => zone.name,
  name: (zone) => zone.name,
  columns: [
    { key: 'name', title: 'Name', value: (zone) => zone.name },
    { key: 'location', title: 'Location', value: (zone) => zone.location },
    { key: 'hosts', title: 'Hosts', value: (zone) => zone.hosts, width: '90px', align: 'right' },
    { key: 'gpus', title: 'GPUs', value: (zone) => zone.gpus, width: '90px', align: 'right' },
    { key: 'free', title: 'Free', value: (zone) => zone.gpusFree, width: '90px', align: 'right' },
    { key: 'access', title: 'Access points up', value: (zone) => zone.accessPoints, width: '150px', align: 'right' },
    { key: 'created', title: 'Made', value: (zone) => zone.createdAt, cell: (zone) => <Ago time={zone.createdAt} />, width: '130px' },
  ],
  empty: { text: 'A zone is a site where hosts stand, with access points that they connect to.', command: "hostler zone create nj --location 'Newark, New Jersey'" },
  create: {
    label: 'New zone',
    path: '/v1/zones',
    permission: 'zone.write',
    command: 'zone create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'nj' }, ...place],
    done: 'The zone is made.',
    then: (zone) => `/zones/${String(zone.name)}`,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/zones/{zone}',
      params: (zone) => ({ zone: zone.name }),
      permission: 'zone.write',
      command: 'zone edit',
      plan: () => 'Nothing moves: location and coordinates are for people and maps.',
      fields: place,
      done: 'The zone is changed.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/zones/{zone}',
      params: (zone) => ({ zone: zone.name }),
      permission: 'zone.write',
      command: 'zone delete',
      plan: (zone) => `The zone ${zone.name} is deleted. With hosts, stock or access points in it this is refused.`,
      confirmName: (zone) => zone.name,
      done: 'The zone is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/zones/{zone}',
    param: 'zone',
    badges: (zone) => <Link className="plain" href={`/fleet?zone=${encodeURIComponent(zone.name)}`}>on the map</Link>,
    facts: (zone) => [
      { name: 'Location', value: zone.location },
      { name: 'Coordinates', value: zone.coordinates },
      { name: 'Hosts', value: <Link className="plain" href={`/hosts?zone=${encodeURIComponent(zone.name)}`}>{zone.hosts}</Link> },
      { name: 'GPUs', value: `${zone.gpus}, ${zone.gpusFree} free` },
      { name: 'Access points up', value: <Link className="plain" href={`/access-points?zone=${encodeURIComponent(zone.name)}`}>{zone.accessPoints}</Link> },
      { name: 'Made', value: <Ago time={zone.createdAt} /> },
    ],
  },
});
