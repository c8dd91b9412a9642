// Tokens with which hosts join, each good once.
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { Action } from '../../parts/action';
import { type Deed, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago } from '../../parts/values';

type Token = Schemas['HostToken'];

const stateOf = (token: Token) => (token.usedAt ? 'used' : Date.parse(token.expiresAt) < Date.now() ? 'expired' : 'open');

const revoke: Deed<Token> = {
  label: 'Revoke',
  method: 'DELETE',
  path: '/v1/host-tokens/{hostToken}',
  params: ({ id }) => ({ hostToken: id }),
  permission: 'host.write',
  command: 'host token delete',
  plan: (token) => `No host can join with ${token.id} then. A host that has joined with it stays.`,
  confirmName: ({ id }) => id,
  done: 'The token is revoked.',
  when: (token) => stateOf(token) === 'open',
  danger: true,
};

export const hostTokens = resource('/v1/host-tokens', {
  noun: 'token',
  title: 'Host tokens',
  page: '/host-tokens',
  kinds: ['host-token', 'host'],
  permission: 'host.read',
  id: (token) => token.id,
  name: (token) => token.id,
  place: ({ provider }) => ({ provider }),
  columns: [
    { key: 'id', title: 'Id', value: (token) => token.id },
    { key: 'state', title: 'State', value: stateOf, cell: (token) => <StateBadge state={stateOf(token)} tone={stateOf(token) === 'open' ? 'ok' : 'off'} />, width: '120px' },
    { key: 'zone', title: 'Zone', value: (token) => token.zone, width: '100px' },
    { key: 'provider', title: 'Provider', value: (token) => token.provider || 'the operator' },
    { key: 'host', title: 'Host', value: (token) => token.host, cell: (token) => token.host && <Link href={`/hosts/${encodeURIComponent(token.host)}`}>{token.host}</Link> },
    { key: 'expires', title: 'Expires', value: (token) => token.expiresAt, cell: (token) => <Ago time={token.expiresAt} />, width: '140px' },
    { key: 'created', title: 'Made', value: (token) => token.createdAt, cell: (token) => <Ago time={token.createdAt} />, width: '130px' },
    { key: 'revoke', title: 'Actions', value: () => '', cell: (token) => <Action deed={revoke} item={token} kinds={['host-token']} place={({ provider }) => ({ provider })} button={{ size: 'compact-xs' }} />, width: '110px' },
  ],
  lead: 'A host joins with a token that is good once. "Add a host" makes one.',
  empty: { text: 'A host joins with a token that is good once.', command: 'hostler host token create --zone nj' },
});
