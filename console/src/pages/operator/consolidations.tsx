// Consolidations: moves that free whole hosts.
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { Section } from '../../parts/page_frame';
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Id } from '../../parts/values';
import { SmallTable } from './small_table';

type Consolidation = Schemas['Consolidation'];

export function FreedHosts({ plan }: { plan: Consolidation }) {
  return (
    <Section title="Hosts that become free">
      <SmallTable
        label="Hosts that become free"
        rows={plan.freedHosts}
        id={({ host }) => host}
        columns={[
          { title: 'Host', cell: ({ host, name }) => <Link className="plain" href={`/hosts/${encodeURIComponent(host)}`}>{name}</Link> },
          { title: 'Zone', cell: ({ zone }) => zone },
          { title: 'GPUs', cell: ({ gpus }) => String(gpus) },
        ]}
      />
    </Section>
  );
}

export function Moves({ plan }: { plan: Consolidation }) {
  return (
    <Section title="Moves">
      <SmallTable
        label="Moves"
        rows={plan.moves}
        id={({ workload }) => workload}
        columns={[
          { title: 'Workload', cell: (move) => (move.tenantID ? `${move.tenantID}/${move.name}` : move.name) },
          { title: 'Kind', cell: (move) => (move.kind === 'instance' ? 'instance: stops and starts' : 'stock: no stop') },
          { title: 'GPUs', cell: (move) => String(move.gpus) },
          { title: 'From', cell: (move) => move.fromName },
          { title: 'To', cell: (move) => move.toName },
          { title: 'State', cell: (move) => <StateBadge state={move.state} reason={move.message} /> },
        ]}
      />
    </Section>
  );
}

export const consolidations = resource('/v1/consolidations', {
  noun: 'consolidation',
  title: 'Consolidations',
  page: '/consolidations',
  kinds: ['consolidation'],
  permission: 'consolidation.read',
  id: (one) => one.id,
  name: (one) => one.id,
  columns: [
    { key: 'id', title: 'Id', value: (one) => one.id },
    { key: 'state', title: 'State', value: (one) => one.state, cell: (one) => <StateBadge state={one.state} reason={one.message} />, width: '140px' },
    { key: 'zone', title: 'Zone', value: (one) => one.zone || 'all', width: '100px' },
    { key: 'gpus', title: 'GPUs freed', value: (one) => one.gpus, width: '120px', align: 'right' },
    { key: 'moves', title: 'Moves', value: (one) => one.movesTotal, cell: (one) => `${one.movesDone} of ${one.movesTotal}`, width: '110px', align: 'right' },
    { key: 'restarts', title: 'Restarts', value: (one) => one.restarts, width: '110px', align: 'right' },
    { key: 'created', title: 'Begun', value: (one) => one.createdAt, cell: (one) => <Ago time={one.createdAt} />, width: '130px' },
  ],
  empty: { text: 'A consolidation moves workloads so that whole hosts become free. It is planned first, and shown before anything moves.', command: 'hostler consolidation create --zone lon --dry-run' },
  // Its page, /consolidations/new, asks for the plan first (consolidate.tsx).
  create: { label: 'New consolidation', path: '/v1/consolidations', permission: 'consolidation.write', command: 'consolidation create', fields: [], done: 'The moves begin.' },
  actions: [
    {
      label: 'Cancel',
      method: 'POST',
      path: '/v1/consolidations/{consolidation}/cancel',
      params: (one) => ({ consolidation: one.id }),
      permission: 'consolidation.write',
      command: 'consolidation cancel',
      plan: (one) => `No further moves begin; ${one.movesDone} of ${one.movesTotal} are over and stay so. Instances that are stopped are started again first.`,
      done: 'The consolidation is cancelled.',
      when: (one) => one.state === 'running',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/consolidations/{consolidation}',
    param: 'consolidation',
    badges: (one) => <StateBadge state={one.state} reason={one.message} />,
    facts: (one) => [
      { name: 'Id', value: <Id value={one.id} /> },
      { name: 'Zone', value: one.zone || 'all, each separately' },
      { name: 'GPUs of the freed hosts', value: String(one.gpus) },
      { name: 'Moves', value: `${one.movesDone} of ${one.movesTotal}` },
      { name: 'Instances to restart', value: String(one.restarts) },
      { name: 'Stopped at once', value: String(one.atOnce) },
      { name: 'Begun', value: one.createdAt && <Ago time={one.createdAt} /> },
      { name: 'Over', value: one.endedAt && <Ago time={one.endedAt} /> },
      { name: 'Message', value: one.message },
    ],
    sections: (one) => <><FreedHosts plan={one} /><Moves plan={one} /></>,
  },
});
