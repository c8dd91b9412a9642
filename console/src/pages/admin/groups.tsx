// Groups: users who get roles together.
import { Group, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { Action } from '../../parts/action';
import { Section } from '../../parts/page_frame';
import { type Deed, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Id } from '../../parts/values';
import { ofTenant, tenantField } from './fields';
import { GrantSection } from './grant_section';
import { peopleLinks } from './links';

interface Membership {
  group: Schemas['Group'];
  user: string;
}

const takeOut: Deed<Membership> = {
  label: 'Take out',
  method: 'DELETE',
  path: '/v1/groups/{group}/members/{user}',
  params: ({ group, user }) => ({ group: group.id, user }),
  query: ({ group }) => ofTenant(group),
  permission: 'group.write',
  command: 'group remove',
  plan: ({ group, user }) => `${user} loses the roles of the group ${group.name} at once.`,
  done: 'The user is no longer in the group.',
  danger: true,
};

const put: Deed<Schemas['Group']> = {
  label: 'Add a member',
  method: 'POST',
  path: '/v1/groups/{group}/members',
  params: ({ id }) => ({ group: id }),
  body: ofTenant,
  permission: 'group.write',
  command: 'group add',
  plan: ({ name }) => `The user gets all roles of the group ${name}.`,
  fields: [{ name: 'user', label: 'User', kind: 'choice', required: true, valuesFrom: { path: '/v1/users', field: 'login', help: 'name' } }],
  done: 'The user is in the group.',
};

const place = ({ tenantID }: { tenantID: string }) => ({ tenantID });

function Members({ group }: { group: Schemas['Group'] }) {
  return (
    <Section title="Members" actions={<Action deed={put} item={group} kinds={['group']} place={place} />}>
      {group.members.length === 0 && <Text c="dimmed">The group is empty.</Text>}
      <Stack gap={4}>
        {group.members.map((user) => (
          <Group key={user} justify="space-between" wrap="nowrap">
            <span className="breakable">{user}</span>
            <Action deed={takeOut} item={{ group, user }} kinds={['group']} place={() => place(group)} button={{ size: 'compact-xs' }} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

export const groups = resource('/v1/groups', {
  noun: 'group',
  title: 'Groups',
  page: '/groups',
  kinds: ['group'],
  permission: 'group.read',
  id: ({ id }) => id,
  name: ({ name }) => name,
  place,
  above: peopleLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <StateBadge state={state} />, width: '120px' },
    { key: 'count', title: 'Members', value: ({ members }) => members.length, width: '100px', align: 'right' },
    { key: 'members', title: 'Who', value: ({ members }) => members.join(', '), wideOnly: true },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '140px', wideOnly: true },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px' },
  ],
  empty: {
    text: 'Roles that a group has count for all its members.',
    command: 'hostler group create researchers',
  },
  create: {
    label: 'New group',
    path: '/v1/groups',
    permission: 'group.write',
    command: 'group create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'researchers' }, tenantField],
    done: 'The group is made.',
    then: ({ id, tenantID }) => `/groups/${String(id)}${tenantID ? `?tenantID=${String(tenantID)}` : ''}`,
  },
  actions: [
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/groups/{group}/disable',
      params: ({ id }) => ({ group: id }),
      body: ofTenant,
      permission: 'group.write',
      command: 'group disable',
      plan: ({ name, members }) => `The roles of the group ${name} count for nothing for its ${members.length} members until it is enabled again.`,
      done: 'The group is disabled.',
      when: ({ state }) => state === 'enabled',
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/groups/{group}/enable',
      params: ({ id }) => ({ group: id }),
      body: ofTenant,
      permission: 'group.write',
      command: 'group enable',
      plan: ({ members }) => `Its roles count again for its ${members.length} members.`,
      done: 'The group is enabled.',
      when: ({ state }) => state === 'disabled',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/groups/{group}',
      params: ({ id }) => ({ group: id }),
      query: ofTenant,
      permission: 'group.write',
      command: 'group delete',
      plan: ({ name }) => `The group ${name} is deleted with all its roles. Its members stay users.`,
      confirmName: ({ name }) => name,
      done: 'The group is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/groups/{group}',
    param: 'group',
    badges: ({ state }) => <StateBadge state={state} />,
    facts: (group) => [
      { name: 'Id', value: <Id value={group.id} /> },
      { name: 'Tenant', value: group.tenantID || 'the operator' },
      { name: 'Made', value: <Ago time={group.createdAt} /> },
    ],
    sections: (group) => (
      <>
        <Members group={group} />
        <GrantSection subject={`group/${group.id}`} tenantID={group.tenantID} />
      </>
    ),
  },
});
