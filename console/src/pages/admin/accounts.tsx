// Service accounts: names under which programs work, each with keys.
import { Section } from '../../parts/page_frame';
import { Action } from '../../parts/action';
import type { Schemas } from '../../api/client';
import { type Deed, resource } from '../../parts/resource';
import { SmallList } from '../../parts/small_list';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Id } from '../../parts/values';
import { accountKeys, KeySecret } from './account_keys';
import { lifetimeField, ofTenant, tenantField } from './fields';
import { GrantSection } from './grant_section';
import { keyLinks } from './links';

type Account = Schemas['ServiceAccount'];

const place = ({ tenantID }: { tenantID: string }) => ({ tenantID });

const newKey: Deed<Account> = {
  label: 'New key',
  method: 'POST',
  path: '/v1/service-accounts/{account}/keys',
  params: ({ id }) => ({ account: id }),
  body: ofTenant,
  permission: 'account.write',
  command: 'account create-key',
  plan: ({ name }) => `The key acts as ${name}, within these limits. Without limits it may do all that ${name} may.`,
  fields: [
    { name: 'name', label: 'Purpose', required: true, placeholder: 'deploys from CI' },
    { name: 'permissions', label: 'Only these permissions', kind: 'set', valuesFrom: { path: '/v1/permissions', field: 'name', help: 'help' } },
    { name: 'projects', label: 'Only in these projects', kind: 'words', valuesFrom: { path: '/v1/projects', field: 'name' } },
    { name: 'addresses', label: 'Only from these addresses', kind: 'words', placeholder: '203.0.113.0/24' },
    lifetimeField('Without one: until it is deleted.'),
  ],
  done: 'The key is made.',
  answer: (made) => <KeySecret made={made as Schemas['CreatedAccountKey']} />,
};

function Keys({ account }: { account: Account }) {
  return (
    <Section title="Keys" actions={<Action deed={newKey} item={account} kinds={['key']} place={place} />}>
      <SmallList kind={accountKeys} params={{ account: account.id }} query={ofTenant(account)} empty="It has no key yet, so no program can use it." />
    </Section>
  );
}

export const accounts = resource('/v1/service-accounts', {
  noun: 'service account',
  title: 'Service accounts',
  page: '/accounts',
  kinds: ['service-account', 'key'],
  permission: 'account.read',
  id: ({ id }) => id,
  name: ({ name }) => name,
  place,
  above: keyLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <StateBadge state={state} />, width: '140px' },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '160px' },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '140px' },
  ],
  empty: {
    text: 'A service account is the name under which a program works. It has roles and keys like a user has roles and a password.',
    command: 'hostler account create ci',
  },
  create: {
    label: 'New service account',
    path: '/v1/service-accounts',
    permission: 'account.write',
    command: 'account create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'ci' }, tenantField],
    done: 'The service account is made. Give it a role and a key.',
    then: ({ id, tenantID }) => `/accounts/${String(id)}?tenantID=${String(tenantID)}`,
  },
  actions: [
    {
      label: 'Rename',
      method: 'PATCH',
      path: '/v1/service-accounts/{account}',
      params: ({ id }) => ({ account: id }),
      body: ofTenant,
      permission: 'account.write',
      command: 'account edit',
      plan: () => 'Its keys and roles stay.',
      fields: ({ name }) => [{ name: 'name', label: 'Name', required: true, initial: name }],
      done: 'The service account is renamed.',
    },
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/service-accounts/{account}/disable',
      params: ({ id }) => ({ account: id }),
      body: ofTenant,
      permission: 'account.write',
      command: 'account disable',
      plan: ({ name }) => `None of the keys of ${name} works until it is enabled again.`,
      done: 'The service account is disabled.',
      when: ({ state }) => state === 'enabled',
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/service-accounts/{account}/enable',
      params: ({ id }) => ({ account: id }),
      body: ofTenant,
      permission: 'account.write',
      command: 'account enable',
      plan: ({ name }) => `The keys of ${name} that are enabled work again.`,
      done: 'The service account is enabled.',
      when: ({ state }) => state === 'disabled',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/service-accounts/{account}',
      params: ({ id }) => ({ account: id }),
      query: ofTenant,
      permission: 'account.write',
      command: 'account delete',
      plan: ({ name }) => `${name} is deleted with all keys and roles. Programs that use its keys are refused at once.`,
      confirmName: ({ name }) => name,
      done: 'The service account is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/service-accounts/{account}',
    param: 'account',
    badges: ({ state }) => <StateBadge state={state} />,
    facts: (account) => [
      { name: 'Id', value: <Id value={account.id} /> },
      { name: 'Tenant', value: account.tenantID },
      { name: 'Made', value: <Ago time={account.createdAt} /> },
    ],
    sections: (account) => (
      <>
        <Keys account={account} />
        <GrantSection subject={`account/${account.id}`} tenantID={account.tenantID} />
      </>
    ),
  },
});
