// Access points: where hosts of a zone connect.
import type { Schemas } from '../../api/client';
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Id } from '../../parts/values';

const drained = (state: string) => state === 'draining' || state === 'drained';

/** A connected access point has no `seenAt`. */
const LastReport = ({ point: { seenAt, state } }: { point: Schemas['AccessPoint'] }) => (seenAt ? <Ago time={seenAt} /> : state !== 'down' && 'now');

export const accessPoints = resource('/v1/access-points', {
  noun: 'access point',
  title: 'Access points',
  page: '/access-points',
  kinds: ['access-point', 'host'],
  permission: 'access.read',
  id: (point) => point.id,
  name: (point) => point.id,
  columns: [
    { key: 'name', title: 'Name', value: (point) => point.id },
    { key: 'state', title: 'State', value: (point) => point.state, cell: (point) => <StateBadge state={point.state} />, width: '130px' },
    { key: 'zone', title: 'Zone', value: (point) => point.zone, width: '100px' },
    { key: 'address', title: 'Address', value: (point) => point.address },
    { key: 'hosts', title: 'Hosts', value: (point) => point.hosts, width: '90px', align: 'right' },
    { key: 'standbys', title: 'Standby', value: (point) => point.standbys, width: '100px', align: 'right' },
    { key: 'load', title: 'Load', value: (point) => point.loadPercent, cell: (point) => `${point.loadPercent} %`, width: '90px', align: 'right' },
    { key: 'tunnels', title: 'Tunnels', value: (point) => point.tunnels, width: '100px', align: 'right' },
    { key: 'seen', title: 'Last report', value: (point) => point.seenAt, cell: (point) => <LastReport point={point} />, width: '130px' },
  ],
  filters: [{ name: 'zone', label: 'Zone' }],
  empty: { text: 'An access point is where the hosts of a zone connect. It appears here when it has connected to a master.', command: 'hostler access --help' },
  actions: [
    {
      label: 'Drain',
      method: 'POST',
      path: '/v1/access-points/{accessPoint}/drain',
      params: (point) => ({ accessPoint: point.id }),
      permission: 'access.write',
      command: 'access drain',
      plan: (point) => `The ${point.hosts} hosts at ${point.id} move to other access points, and it accepts no new ones. Instances keep running; open tunnels (${point.tunnels}) end.`,
      fields: [{ name: 'force', label: 'Even if no other access point takes its hosts', kind: 'flag' }],
      done: 'The access point drains.',
      when: (point) => !drained(point.state),
    },
    {
      label: 'End the drain',
      method: 'POST',
      path: '/v1/access-points/{accessPoint}/undrain',
      params: (point) => ({ accessPoint: point.id }),
      permission: 'access.write',
      command: 'access undrain',
      plan: (point) => `${point.id} accepts hosts again.`,
      done: 'The access point accepts hosts.',
      when: (point) => drained(point.state),
    },
  ],
  detail: {
    path: '/v1/access-points/{accessPoint}',
    param: 'accessPoint',
    badges: (point) => <StateBadge state={point.state} />,
    facts: (point) => [
      { name: 'Id', value: <Id value={point.id} /> },
      { name: 'Zone', value: point.zone },
      { name: 'Address', value: <Id value={point.address} /> },
      { name: 'Hosts', value: `${point.hosts}, ${point.loadPercent} % of its limit` },
      { name: 'Hosts on standby', value: String(point.standbys) },
      { name: 'Tunnels', value: String(point.tunnels) },
      { name: 'Banned addresses and hosts', value: String(point.banned) },
      { name: 'Release', value: point.version },
      { name: 'Last report', value: <LastReport point={point} /> },
    ],
  },
});
