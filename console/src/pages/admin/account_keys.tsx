// Keys: those of a service account, and what all keys have in common.
import { Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { type Deed, resource } from '../../parts/resource';
import { SecretOnce } from '../../parts/secret_once';
import { StateBadge } from '../../parts/state_badge';
import { Command } from '../../parts/states';
import { Ago } from '../../parts/values';

interface MadeKey {
  name: string;
  secret: string;
  expiresAt?: string;
}

export function KeySecret({ made, children }: { made: MadeKey; children?: string }) {
  return (
    <SecretOnce title={`Key: ${made.name}`} what="the key" value={made.secret}>
      <Text fz="sm">{children} {made.expiresAt ? <>It ends <Ago time={made.expiresAt} />.</> : 'It does not end by itself.'} A program sends it as a bearer token:</Text>
      <Command line="HOSTLER_KEY=… hostler whoami" />
    </SecretOnce>
  );
}

function Rotated({ made }: { made: Schemas['RotatedKey'] }) {
  const until = new Date(made.replacedEndsAt).toLocaleString();
  return <KeySecret made={made}>{`The old key works until ${until}.`}</KeySecret>;
}

interface AnyKey {
  id: string;
  name: string;
}

export const rotate: Deed<AnyKey> = {
  label: 'Rotate',
  method: 'POST',
  path: '/v1/api-keys/{apiKey}/rotate',
  params: ({ id }) => ({ apiKey: id }),
  permission: 'account.write',
  command: 'key rotate',
  plan: ({ name }) => `A new key with the limits of "${name}" is made. The old one works for a while longer.`,
  fields: [{ name: 'graceSeconds', label: 'The old key still works for', kind: 'duration', placeholder: '1h', help: 'Without a time: 1 hour.' }],
  done: 'The key is replaced.',
  answer: (made) => <Rotated made={made as Schemas['RotatedKey']} />,
};

export const deleteKey: Deed<AnyKey> = {
  label: 'Delete',
  method: 'DELETE',
  path: '/v1/api-keys/{apiKey}',
  params: ({ id }) => ({ apiKey: id }),
  permission: 'key.write',
  command: 'key delete',
  plan: ({ name }) => `The key "${name}" stops working at once. This cannot be undone.`,
  confirmName: ({ name }) => name,
  done: 'The key is deleted.',
  danger: true,
};

/** What a key is narrowed to, in words. */
function limitWords({ permissions, projects, addresses }: Pick<Schemas['AccountKey'], 'permissions' | 'projects' | 'addresses'>): string {
  const parts = [
    permissions.length > 0 && permissions.join(' '),
    projects.length > 0 && `in ${projects.join(' ')}`,
    addresses.length > 0 && `from ${addresses.join(' ')}`,
  ].filter(Boolean);
  return parts.join('; ') || 'all that the account may';
}

export const accountKeys = resource('/v1/service-accounts/{account}/keys', {
  noun: 'key',
  title: 'Keys',
  page: '/accounts',
  kinds: ['key'],
  permission: 'account.read',
  id: ({ id }) => id,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  columns: [
    { key: 'name', title: 'Purpose', value: ({ name }) => name },
    { key: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <StateBadge state={state} />, width: '140px' },
    { key: 'limits', title: 'Limits', value: limitWords, cell: (key) => <span title={limitWords(key)}>{limitWords(key)}</span> },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '110px' },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => (expiresAt ? <Ago time={expiresAt} /> : 'never'), width: '110px' },
  ],
  empty: { text: 'A program uses a key in place of a password.', command: 'hostler account create-key ci --name deploys' },
  actions: [
    { ...rotate, when: (key) => key.state === 'enabled' },
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/api-keys/{apiKey}/disable',
      params: ({ id }) => ({ apiKey: id }),
      permission: 'account.write',
      command: 'key disable',
      plan: ({ name }) => `The key "${name}" does not work until it is enabled again.`,
      done: 'The key is disabled.',
      when: ({ state }) => state === 'enabled',
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/api-keys/{apiKey}/enable',
      params: ({ id }) => ({ apiKey: id }),
      permission: 'account.write',
      command: 'key enable',
      plan: ({ name }) => `The key "${name}" works again.`,
      done: 'The key is enabled.',
      when: ({ state }) => state === 'disabled',
    },
    deleteKey,
  ],
  rowActions: ['Rotate', 'Disable', 'Enable', 'Delete'],
});
