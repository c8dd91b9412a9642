// Secrets: values that instances get as variables or files, and logins of registries. No value is ever shown.
import { Code, Group } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { type FormField, resource } from '../../parts/resource';
import { Ago, Id } from '../../parts/values';
import { bytesText } from '../../parts/words';

type Secret = Schemas['Secret'];

const valueFields: readonly FormField[] = [
  { name: 'key', label: 'Key', required: true, placeholder: 'token', help: 'A registry login has the key password.' },
  { name: 'value', label: 'Value', kind: 'secret', required: true },
];

/** The API takes several values; the form has one. */
function shapeValues({ key, value, ...others }: Record<string, unknown>): Record<string, unknown> {
  return { ...others, values: key ? [{ key, value }] : [] };
}

function Keys({ secret }: { secret: Secret }) {
  return <Group gap="xs" component="span" display="inline-flex">{secret.keys.map(({ key, bytes }) => <Code key={key} title={bytesText(bytes)}>{key}</Code>)}</Group>;
}

export const secrets = resource('/v1/secrets', {
  noun: 'secret',
  title: 'Secrets',
  page: '/secrets',
  kinds: ['secret'],
  permission: 'secret.read',
  id: (secret) => secret.id,
  name: (secret) => secret.name,
  place: ({ tenantID, project }) => ({ tenantID, project }),
  columns: [
    { key: 'name', title: 'Name', value: (secret) => secret.name },
    { key: 'kind', title: 'Kind', value: (secret) => secret.kind, width: '110px' },
    { key: 'keys', title: 'Keys', value: (secret) => secret.keys.map(({ key }) => key).join(' '), cell: (secret) => <Keys secret={secret} /> },
    { key: 'used', title: 'Used by', value: (secret) => secret.usedBy.length, align: 'right', width: '90px' },
    { key: 'tenant', title: 'Tenant', value: (secret) => secret.tenantID, width: '140px', wideOnly: true },
    { key: 'project', title: 'Project', value: (secret) => secret.project, width: '120px', wideOnly: true },
    { key: 'changed', title: 'Changed', value: (secret) => secret.updatedAt, cell: (secret) => <Ago time={secret.updatedAt} />, width: '130px' },
  ],
  empty: {
    text: 'A secret keeps tokens, passwords and certificates, and gives them to instances as variables or files. Its values are never shown.',
    command: 'hostler secret create huggingface --value token=@token.txt',
  },
  create: {
    label: 'New secret',
    path: '/v1/secrets',
    permission: 'secret.write',
    command: 'secret create',
    argument: 'name',
    lead: 'A value cannot be read back.',
    fields: [
      { name: 'name', label: 'Name', required: true, placeholder: 'huggingface' },
      { name: 'kind', label: 'Kind', kind: 'choice', values: ['opaque', 'registry'], initial: 'opaque' },
      ...valueFields,
      { name: 'server', label: 'Registry', placeholder: 'registry.lan:5000', help: 'Of a registry login: host, as its image names begin.', more: true },
      { name: 'username', label: 'User name', help: 'Of a registry login.', more: true },
      { name: 'tenantID', label: 'Tenant', help: 'Of operators; others have their own.', more: true },
      { name: 'project', label: 'Project', more: true },
    ],
    shape: shapeValues,
    done: 'The secret is made.',
    then: (secret) => `/secrets/${String(secret.id)}`,
  },
  actions: [
    {
      label: 'Set a value',
      method: 'PATCH',
      path: '/v1/secrets/{secret}',
      params: (secret) => ({ secret: secret.id }),
      body: (secret) => ({ tenantID: secret.tenantID }),
      permission: 'secret.write',
      command: 'secret edit',
      plan: () => 'Other keys stay. Instances that run keep what they were given until their next start.',
      fields: valueFields,
      shape: shapeValues,
      done: 'The value is set.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/secrets/{secret}',
      params: (secret) => ({ secret: secret.id }),
      query: (secret) => ({ tenantID: secret.tenantID }),
      permission: 'secret.write',
      command: 'secret delete',
      plan: (secret) => `The secret ${secret.name} is deleted. Instances that name it do not start again without it.`,
      confirmName: (secret) => secret.name,
      done: 'The secret is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/secrets/{secret}',
    param: 'secret',
    facts: (secret) => [
      { name: 'Id', value: <Id value={secret.id} /> },
      { name: 'Kind', value: secret.kind },
      { name: 'Keys', value: <Keys secret={secret} /> },
      { name: 'Registry', value: secret.server },
      { name: 'User name', value: secret.username },
      { name: 'Version', value: secret.version },
      { name: 'Used by', value: secret.usedBy.join(', ') },
      { name: 'Tenant, project', value: [secret.tenantID, secret.project].filter(Boolean).join(', ') },
      { name: 'Made', value: <Ago time={secret.createdAt} /> },
      { name: 'Changed', value: <Ago time={secret.updatedAt} /> },
    ],
  },
});
