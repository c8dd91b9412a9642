// Members: users whose home is the tenant.
import { Code, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { Section } from '../../parts/page_frame';
import { resource } from '../../parts/resource';
import { SecretOnce } from '../../parts/secret_once';
import { SmallList } from '../../parts/small_list';
import { StateBadge } from '../../parts/state_badge';
import { Command } from '../../parts/states';
import { Ago, Id } from '../../parts/values';
import { tenantField } from './fields';
import { GrantSection } from './grant_section';
import { peopleLinks } from './links';
import { linkOf, mailWords } from './mail';
import { sessions } from './sessions';

type User = Schemas['User'];

/** The link by which a person sets a password, and the command that does the same. */
function PasswordLink({ made }: { made: Schemas['CreatedPasswordLink'] }) {
  return (
    <SecretOnce title={`Password link for ${made.login}`} what="the link" value={linkOf(made, '/sign-in/password')}>
      <Text fz="sm">The person opens the link. It works once and ends <Ago time={made.expiresAt} />. {mailWords(made.mail)} With the command line:</Text>
      <Command line="hostler password reset --secret --new-password" />
    </SecretOnce>
  );
}

function secondFactorWords({ hasTotp, recoveryCodesLeft }: User): string {
  return hasTotp ? `yes, ${recoveryCodesLeft} recovery codes left` : 'no';
}

export const members = resource('/v1/users', {
  noun: 'member',
  title: 'Members',
  page: '/members',
  kinds: ['user'],
  permission: 'user.read',
  id: ({ id }) => id,
  name: ({ login }) => login,
  place: ({ tenantID }) => ({ tenantID }),
  above: peopleLinks,
  columns: [
    { key: 'login', title: 'Login', value: ({ login }) => login },
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'state', title: 'State', value: ({ state }) => state, cell: ({ state }) => <StateBadge state={state} />, width: '120px' },
    { key: 'factor', title: 'Second factor', value: ({ hasTotp }) => (hasTotp ? 'yes' : 'no'), width: '130px' },
    { key: 'email', title: 'E-mail', value: ({ email }) => email, wideOnly: true },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '120px', wideOnly: true },
    { key: 'created', title: 'Since', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px' },
  ],
  filters: [{ name: 'state', label: 'State', values: ['enabled', 'disabled'] }],
  empty: {
    text: 'Members sign in with a login of their own and see what their roles allow. Invite them, or make their users here.',
    command: 'hostler invitation create member --email ann@example.com',
  },
  create: {
    label: 'New user',
    path: '/v1/users',
    permission: 'user.write',
    command: 'user create',
    argument: 'login',
    lead: 'A user begins without a role and without a password. An invitation gives both in one step.',
    fields: [
      { name: 'login', label: 'Login', required: true, placeholder: 'ann@example.com', help: 'Unique in the cloud.' },
      { name: 'name', label: 'Name', placeholder: 'Ann Adams' },
      { name: 'email', label: 'E-mail', placeholder: 'ann@example.com' },
      tenantField,
    ],
    done: 'The user is made.',
    answer: (made) => <PasswordLink made={made as unknown as Schemas['CreatedPasswordLink']} />,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/users/{user}',
      params: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'user edit',
      plan: ({ login }) => `The login ${login} stays.`,
      fields: ({ name, email }) => [
        { name: 'name', label: 'Name', initial: name },
        { name: 'email', label: 'E-mail', initial: email },
      ],
      done: 'The user is changed.',
    },
    {
      label: 'Password link',
      method: 'POST',
      path: '/v1/users/{user}/password-link',
      params: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'user password-link',
      plan: ({ login }) => `Makes a link by which ${login} sets a new password, once. The present password works until then.`,
      done: 'The link is made.',
      answer: (made) => <PasswordLink made={made as Schemas['CreatedPasswordLink']} />,
      noDryRun: true,
    },
    {
      label: 'Remove second factor',
      method: 'POST',
      path: '/v1/totp/remove',
      body: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'totp remove',
      plan: ({ login }) => `${login} signs in without a one-time code until a new second factor is set up. Do this for people who lost theirs.`,
      done: 'The second factor is removed.',
      when: ({ hasTotp }) => hasTotp,
      danger: true,
    },
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/users/{user}/disable',
      params: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'user disable',
      plan: ({ login }) => `All sessions of ${login} end at once, and no sign-in works. Instances keep running. Enabling undoes it.`,
      done: 'The user is disabled.',
      when: ({ state }) => state === 'enabled',
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/users/{user}/enable',
      params: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'user enable',
      plan: ({ login }) => `${login} can sign in again, with the roles of before.`,
      done: 'The user is enabled.',
      when: ({ state }) => state === 'disabled',
    },
    {
      label: 'Remove',
      method: 'DELETE',
      path: '/v1/users/{user}',
      params: ({ id }) => ({ user: id }),
      permission: 'user.write',
      command: 'user delete',
      plan: ({ login }) => `The user ${login} is removed with all sessions and roles. Instances and volumes stay in their projects. This cannot be undone.`,
      confirmName: ({ login }) => login,
      done: 'The user is removed.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/users/{user}',
    param: 'user',
    query: () => ({}),
    badges: ({ state }) => <StateBadge state={state} />,
    facts: (user) => [
      { name: 'Id', value: <Id value={user.id} /> },
      { name: 'Name', value: user.name },
      { name: 'E-mail', value: user.email },
      { name: 'Tenant', value: user.tenantID || 'the operator' },
      { name: 'Password', value: user.hasPassword ? 'set' : 'not set' },
      { name: 'Second factor', value: secondFactorWords(user) },
      { name: 'Since', value: <Ago time={user.createdAt} /> },
      ...(user.disabledAt ? [{ name: 'Disabled', value: <Ago time={user.disabledAt} /> }] : []),
    ],
    sections: (user) => (
      <>
        <GrantSection subject={`user/${user.id}`} tenantID={user.tenantID} />
        <Section title="Sessions">
          <SmallList kind={sessions} query={{ user: user.id }} without={['login']} empty="No session is open." />
          {!user.hasPassword && <Text fz="sm" c="dimmed" mt="xs">The user has no password yet; <Code>Password link</Code> makes a link that sets one.</Text>}
        </Section>
      </>
    ),
  },
});
