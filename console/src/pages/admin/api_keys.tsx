// API keys of tenants and of the operator. Programs of a tenant rather use keys of service accounts.
import type { Schemas } from '../../api/client';
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';
import { deleteKey, KeySecret, rotate } from './account_keys';
import { lifetimeField, tenantField } from './fields';
import { keyLinks } from './links';

export const apiKeys = resource('/v1/api-keys', {
  noun: 'API key',
  title: 'API keys',
  page: '/api-keys',
  kinds: ['key'],
  permission: 'key.read',
  id: ({ id }) => id,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  lead: 'A key of a tenant may do everything in it; keys of service accounts can be narrowed.',
  above: keyLinks,
  columns: [
    { key: 'name', title: 'Purpose', value: ({ name }) => name },
    { key: 'of', title: 'Of', value: ({ isOperator, tenantID }) => (isOperator ? 'the operator' : `tenant ${tenantID}`), width: '180px' },
    { key: 'used', title: 'Used', value: ({ usedAt }) => usedAt, cell: ({ usedAt }) => (usedAt ? <Ago time={usedAt} /> : 'never'), width: '120px' },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px' },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => (expiresAt ? <Ago time={expiresAt} /> : 'never'), width: '120px' },
  ],
  empty: { text: 'An API key lets a program act for a whole tenant. The operator makes them.', command: 'hostler key create billing --tenant acme' },
  create: {
    label: 'New API key',
    path: '/v1/api-keys',
    permission: 'key.create',
    command: 'key create',
    argument: 'name',
    fields: [
      { name: 'name', label: 'Purpose', required: true, placeholder: 'billing' },
      { ...tenantField, help: 'The tenant in which it may do everything.', more: false },
      { name: 'isOperator', label: 'A key of the operator: it may do everything in the cloud', kind: 'flag' },
      lifetimeField('Without one: until it is deleted.'),
    ],
    done: 'The key is made.',
    answer: (made) => <KeySecret made={made as unknown as Schemas['CreatedApiKey']} />,
  },
  actions: [rotate, deleteKey],
  rowActions: ['Rotate', 'Delete'],
});
