// Silences: no messages for some alerts, for a while.
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';
import { tenantField } from './fields';
import { alertLinks } from './links';

export const silences = resource('/v1/silences', {
  noun: 'silence',
  title: 'Silences',
  page: '/silences',
  kinds: ['silence'],
  permission: 'alert.read',
  id: ({ id }) => id,
  name: ({ matchers }) => matchers.join(' '),
  place: ({ tenantID }) => ({ tenantID }),
  above: alertLinks,
  columns: [
    { key: 'matchers', title: 'Alerts with', value: ({ matchers }) => matchers.join(' ') },
    { key: 'comment', title: 'Why', value: ({ comment }) => comment },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => <Ago time={expiresAt} />, width: '130px' },
    { key: 'by', title: 'Made by', value: ({ madeBy }) => madeBy, width: '170px' },
    { key: 'of', title: 'Receivers of', value: ({ tenantID }) => tenantID || 'the operator', width: '140px', wideOnly: true },
  ],
  empty: { text: 'A silence stops the messages for some alerts while they are being worked on.', command: "hostler alert silence create --matcher alertname=gpu-hot --for 2h --comment 'cooling is being serviced'" },
  create: {
    label: 'New silence',
    path: '/v1/silences',
    permission: 'alert.write',
    command: 'alert silence create',
    fields: [
      { name: 'matchers', label: 'Labels', kind: 'words', required: true, placeholder: 'alertname=gpu-hot', help: 'All must match. Several values with |: host=h-1|h-2.' },
      { name: 'forSeconds', label: 'For', kind: 'duration', required: true, initial: '2h' },
      { name: 'comment', label: 'Why', required: true, placeholder: 'cooling is being serviced' },
      { ...tenantField, help: 'Whose receivers are silenced. For operators: without one, their own.' },
    ],
    done: 'The silence has begun.',
  },
  actions: [
    {
      label: 'End',
      method: 'DELETE',
      path: '/v1/silences/{silence}',
      params: ({ id }) => ({ silence: id }),
      permission: 'alert.write',
      command: 'alert silence delete',
      plan: ({ matchers }) => `Messages for alerts with ${matchers.join(' ')} are sent again, also for those that fire now.`,
      done: 'The silence has ended.',
    },
  ],
  rowActions: ['End'],
});
