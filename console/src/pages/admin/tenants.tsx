// Tenants: who pays and owns.
import type { Schemas } from '../../api/client';
import { type FormField, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Section } from '../../parts/page_frame';
import { SmallList } from '../../parts/small_list';
import { Ago } from '../../parts/values';
import { projects } from './projects';

const stateOf = ({ disabled }: { disabled: boolean }) => (disabled ? 'disabled' : 'enabled');

function fieldsOf(tenant?: Schemas['Tenant']): FormField[] {
  return [
    { name: 'displayName', label: 'Name for people', placeholder: 'Acme Research', initial: tenant?.displayName },
    { name: 'needsTotp', label: 'Its users sign in with a second factor', kind: 'flag', initial: tenant?.needsTotp },
  ];
}

export const tenants = resource('/v1/tenants', {
  noun: 'tenant',
  title: 'Tenants',
  page: '/tenants',
  kinds: ['tenant'],
  permission: 'tenant.read',
  id: ({ name }) => name,
  name: ({ name }) => name,
  place: ({ name }) => ({ tenantID: name }),
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'words', title: 'Name for people', value: ({ displayName }) => displayName },
    { key: 'state', title: 'State', value: stateOf, cell: (tenant) => <StateBadge state={stateOf(tenant)} />, width: '140px' },
    { key: 'factor', title: 'Second factor', value: ({ needsTotp }) => (needsTotp ? 'required' : 'optional'), width: '140px' },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '140px' },
  ],
  empty: { text: 'A tenant owns projects, people and quotas; others do not see them.', command: 'hostler tenant create acme' },
  create: {
    label: 'New tenant',
    path: '/v1/tenants',
    permission: 'tenant.create',
    command: 'tenant create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'acme', help: 'It never changes.' }, ...fieldsOf()],
    done: 'The tenant is made.',
    then: ({ name }) => `/tenants/${String(name)}`,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/tenants/{tenant}',
      params: ({ name }) => ({ tenant: name }),
      body: ({ version }) => ({ ifVersion: version }),
      permission: 'tenant.write',
      command: 'tenant edit',
      plan: ({ name }) => `The name ${name} stays. Users without a second factor set one up at their next sign-in, if one is required.`,
      fields: fieldsOf,
      done: 'The tenant is changed.',
    },
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/tenants/{tenant}/disable',
      params: ({ name }) => ({ tenant: name }),
      permission: 'tenant.create',
      command: 'tenant disable',
      plan: ({ name }) => `Nothing can be created or started in ${name}, and its credentials are refused. What runs keeps running.`,
      confirmName: ({ name }) => name,
      done: 'The tenant is disabled.',
      when: ({ disabled }) => !disabled,
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/tenants/{tenant}/enable',
      params: ({ name }) => ({ tenant: name }),
      permission: 'tenant.create',
      command: 'tenant enable',
      plan: ({ name }) => `The credentials of ${name} work again.`,
      done: 'The tenant is enabled.',
      when: ({ disabled }) => disabled,
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/tenants/{tenant}',
      params: ({ name }) => ({ tenant: name }),
      permission: 'tenant.create',
      command: 'tenant delete',
      plan: ({ name }) => `${name} is deleted with its projects and API keys. It must have no live objects. This cannot be undone.`,
      confirmName: ({ name }) => name,
      done: 'The tenant is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/tenants/{tenant}',
    param: 'tenant',
    query: () => ({}),
    badges: (tenant) => <StateBadge state={stateOf(tenant)} />,
    facts: (tenant) => [
      { name: 'Name for people', value: tenant.displayName },
      { name: 'Second factor', value: tenant.needsTotp ? 'required' : 'optional' },
      { name: 'Made', value: <Ago time={tenant.createdAt} /> },
      ...(tenant.disabledAt ? [{ name: 'Disabled', value: <Ago time={tenant.disabledAt} /> }] : []),
    ],
    sections: (tenant) => (
      <Section title="Projects">
        <SmallList kind={projects} query={{ tenantID: tenant.name }} without={['tenant']} empty="It has no project." />
      </Section>
    ),
  },
});
