// Schedules: a report of each day, week or month.
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago } from '../../parts/values';
import { ofTenant, tenantField } from './fields';
import { reportLinks } from './links';

export const schedules = resource('/v1/report-schedules', {
  noun: 'schedule',
  title: 'Report schedules',
  page: '/reports/schedules',
  kinds: ['report-schedule'],
  permission: 'gpu.usage',
  id: ({ name }) => name,
  rowKey: ({ tenantID, name }) => `${tenantID}/${name}`,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  above: reportLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'every', title: 'Every', value: ({ every, at }) => `${every} at ${at} UTC`, width: '170px' },
    { key: 'by', title: 'By', value: ({ by, where }) => [by || 'default', where].filter(Boolean).join(', where ') },
    { key: 'to', title: 'Sent to', value: ({ to }) => to || 'only kept', width: '130px' },
    { key: 'kept', title: 'Kept', value: ({ kept }) => kept, cell: ({ kept, keep }) => `${kept} of ${keep}`, width: '100px', align: 'right' },
    { key: 'next', title: 'Next', value: ({ nextAt }) => nextAt, cell: ({ nextAt, lastError }) => (lastError ? <StateBadge state="failed" reason={lastError} /> : <Ago time={nextAt} />), width: '120px' },
    { key: 'of', title: 'Of', value: ({ tenantID }) => tenantID || 'the operator', width: '120px', wideOnly: true },
  ],
  empty: { text: 'A schedule makes a report of each day, week or month, keeps it, and sends it by e-mail if wanted.', command: 'hostler report schedule create weekly --by tenant --every week --at 06:00' },
  create: {
    label: 'New schedule',
    path: '/v1/report-schedules',
    permission: 'report.write',
    command: 'report schedule create',
    argument: 'name',
    fields: [
      { name: 'name', label: 'Name', required: true, placeholder: 'weekly' },
      { name: 'every', label: 'Every', kind: 'choice', required: true, values: ['day', 'week', 'month'], initial: 'week' },
      { name: 'at', label: 'At', initial: '06:00', help: 'HH:MM in UTC. Weeks begin on Monday, months on their first day.' },
      { name: 'by', label: 'Grouped by', placeholder: 'instance', help: 'Labels with commas, as on the usage page.' },
      { name: 'to', label: 'Sent to', kind: 'choice', valuesFrom: { path: '/v1/alert-receivers', field: 'name', help: 'type' }, help: 'A receiver of type email. Without one it is only kept.' },
      { name: 'keep', label: 'Reports to keep', kind: 'number', initial: 12 },
      { name: 'where', label: 'Only GPUs with these labels', placeholder: 'zone=lon', more: true },
      tenantField,
    ],
    done: 'The schedule is made.',
  },
  actions: [
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/report-schedules/{schedule}',
      params: ({ name }) => ({ schedule: name }),
      query: ofTenant,
      permission: 'report.write',
      command: 'report schedule delete',
      plan: ({ name, kept }) => `The schedule ${name} and its ${kept} kept reports are deleted. This cannot be undone.`,
      confirmName: ({ name }) => name,
      done: 'The schedule is deleted.',
      danger: true,
    },
  ],
  rowActions: ['Delete'],
});
