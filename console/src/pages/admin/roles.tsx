// Roles: the built-in ones and those of the tenant.
import { Badge, Code } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { useRead } from '../../api/use_read';
import { Section } from '../../parts/page_frame';
import { type FormField, resource } from '../../parts/resource';
import { SmallList } from '../../parts/small_list';
import { AsyncView } from '../../parts/states';
import { Ago } from '../../parts/values';
import { ofTenant, tenantField } from './fields';
import { grants } from './grants';
import { roleLinks } from './links';

type Role = Schemas['Role'];

function roleFields({ permissions, description }: Partial<Role> = {}): FormField[] {
  return [
    { name: 'permissions', label: 'Permissions', kind: 'set', required: true, initial: permissions, valuesFrom: { path: '/v1/permissions', field: 'name', help: 'help' }, help: 'You can give only those that you have.' },
    { name: 'description', label: 'Purpose', initial: description },
  ];
}

function Permissions({ role }: { role: Role }) {
  const known = useRead('/v1/permissions', { query: { limit: 200 } });
  return (
    <Section title={`Permissions (${role.permissions.length})`}>
      <AsyncView query={known}>
        {({ items }) => (
          <dl className="facts">
            {items.filter(({ name }) => role.permissions.includes(name)).map(({ name, help }) => (
              <div key={name}>
                <dt><Code>{name}</Code></dt>
                <dd>{help}</dd>
              </div>
            ))}
          </dl>
        )}
      </AsyncView>
    </Section>
  );
}

export const roles = resource('/v1/roles', {
  noun: 'role',
  title: 'Roles',
  page: '/roles',
  kinds: ['role'],
  permission: 'role.read',
  id: ({ name }) => name,
  rowKey: ({ tenantID, name }) => `${tenantID}/${name}`,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  lead: 'A role is a set of permissions. A grant gives it to people and programs.',
  above: roleLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name, width: '200px' },
    { key: 'description', title: 'Purpose', value: ({ description }) => description },
    { key: 'count', title: 'Permissions', value: ({ permissions }) => permissions.length, width: '110px', align: 'right' },
    { key: 'kind', title: 'Kind', value: ({ builtIn, tenantID }) => (builtIn ? 'built in' : tenantID ? `of ${tenantID}` : 'of the operator'), width: '150px' },
  ],
  empty: { text: 'Roles are sets of permissions.', command: 'hostler role list' },
  create: {
    label: 'New role',
    path: '/v1/roles',
    permission: 'role.write',
    command: 'role create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'log-reader' }, ...roleFields(), tenantField],
    done: 'The role is made.',
    then: ({ name, tenantID }) => `/roles/${String(name)}${tenantID ? `?tenantID=${String(tenantID)}` : ''}`,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/roles/{role}',
      params: ({ name }) => ({ role: name }),
      body: ofTenant,
      permission: 'role.write',
      command: 'role edit',
      plan: () => 'The permissions replace the present ones, at once, for all who have the role.',
      fields: roleFields,
      done: 'The role is changed.',
      when: ({ builtIn }) => !builtIn,
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/roles/{role}',
      params: ({ name }) => ({ role: name }),
      query: ofTenant,
      permission: 'role.write',
      command: 'role delete',
      plan: ({ name }) => `The role ${name} is deleted. This works only while no grant has it.`,
      confirmName: ({ name }) => name,
      done: 'The role is deleted.',
      when: ({ builtIn }) => !builtIn,
      danger: true,
    },
  ],
  detail: {
    path: '/v1/roles/{role}',
    param: 'role',
    badges: ({ builtIn }) => builtIn && <Badge variant="light" color="gray" tt="none">built in</Badge>,
    facts: (role) => [
      { name: 'Purpose', value: role.description },
      { name: 'Defined by', value: role.builtIn ? 'Hostler' : role.tenantID || 'the operator' },
      ...(role.createdAt ? [{ name: 'Made', value: <Ago time={role.createdAt} /> }] : []),
    ],
    sections: (role) => (
      <>
        <Section title="Who has it"><SmallList kind={grants} query={{ role: role.name }} without={['role']} empty="No grant that you may see gives this role." /></Section>
        <Permissions role={role} />
      </>
    ),
  },
});
