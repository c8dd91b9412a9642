// Sessions of people: the own ones, or with ?user= those of a user.
import { Badge, Group } from '@mantine/core';
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';

export const sessions = resource('/v1/sessions', {
  noun: 'session',
  title: 'Sessions',
  page: '/sessions',
  kinds: ['session'],
  permission: 'self.read',
  id: (session) => session.id,
  name: (session) => session.client,
  lead: 'Your sessions, or those of the user in the filter.',
  columns: [
    {
      key: 'client', title: 'Program', value: ({ client }) => client,
      cell: ({ client, current }) => <Group gap="xs">{client}{current && <Badge variant="light" tt="none">this one</Badge>}</Group>,
    },
    { key: 'login', title: 'User', value: ({ login }) => login },
    { key: 'address', title: 'Address', value: ({ address }) => address, width: '170px' },
    { key: 'created', title: 'Signed in', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '130px' },
    { key: 'used', title: 'Used', value: ({ usedAt }) => usedAt, cell: ({ usedAt }) => <Ago time={usedAt} />, width: '130px' },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => <Ago time={expiresAt} />, width: '130px' },
  ],
  filters: [{ name: 'user', label: 'User' }],
  empty: {
    text: 'A session begins when a person signs in with a password, a code or an identity provider. Keys have none.',
    command: 'hostler login --browser',
  },
  actions: [
    {
      label: 'End',
      method: 'DELETE',
      path: '/v1/sessions/{session}',
      params: ({ id }) => ({ session: id }),
      permission: 'self.write',
      command: 'session delete',
      plan: ({ client, address, current }) =>
        current
          ? 'This is the session of this page: you sign in again afterwards.'
          : `The session of ${client || 'a program'} from ${address} ends at once, with its streams and terminals.`,
      done: 'The session has ended.',
      danger: true,
    },
  ],
  rowActions: ['End'],
});
