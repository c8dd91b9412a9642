// Open invitations. One gives a role, and a login to a person who has none.
import { Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { resource } from '../../parts/resource';
import { SecretOnce } from '../../parts/secret_once';
import { Command } from '../../parts/states';
import { Ago } from '../../parts/values';
import { lifetimeField, projectField, roleField, scopeWords, tenantField, wideScopeFields } from './fields';
import { peopleLinks } from './links';
import { mailWords } from './mail';

/** Page at which the person accepts. Masters without a public URL name none; this page's address is known. */
function invitationLink(secret: string, origin: string, link?: unknown): string {
  return typeof link === 'string' && link ? link : `${origin}/sign-in/invitation?secret=${encodeURIComponent(secret)}`;
}

function Made({ made }: { made: Schemas['CreatedInvitation'] & { link?: unknown } }) {
  return (
    <SecretOnce title={`Invitation: ${made.role} of ${scopeWords(made)}`} what="the link" value={invitationLink(made.secret, location.origin, made.link)}>
      <Text fz="sm">The person opens the link. It works once and ends <Ago time={made.expiresAt} />. {mailWords(made.mail)} With the command line:</Text>
      <Command line="hostler invitation accept --secret --password" />
    </SecretOnce>
  );
}

export const invitations = resource('/v1/invitations', {
  noun: 'invitation',
  title: 'Invitations',
  page: '/invitations',
  kinds: ['invitation'],
  permission: 'user.read',
  id: ({ id }) => id,
  name: ({ email, login, id }) => email || login || id,
  place: ({ tenantID, project, provider }) => ({ tenantID, project, provider }),
  above: peopleLinks,
  columns: [
    { key: 'person', title: 'Person', value: ({ email, login }) => email || login || 'whoever has the link' },
    { key: 'role', title: 'Role', value: ({ role }) => role, width: '160px' },
    { key: 'scope', title: 'Where', value: scopeWords },
    { key: 'by', title: 'Invited by', value: ({ madeBy }) => madeBy, width: '180px', wideOnly: true },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px' },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => <Ago time={expiresAt} />, width: '120px' },
  ],
  empty: {
    text: 'An invitation is a link by which a person chooses a login and a password and gets a role.',
    command: 'hostler invitation create member --email ann@example.com',
  },
  create: {
    label: 'Invite',
    path: '/v1/invitations',
    permission: 'user.write',
    command: 'invitation create',
    argument: 'role',
    fields: [
      { name: 'email', label: 'E-mail', placeholder: 'ann@example.com', help: 'The link is sent there, if this cloud sends letters.' },
      { ...roleField, initial: 'member' },
      projectField,
      { name: 'login', label: 'Login', help: 'Without one the person chooses.', more: true },
      { ...lifetimeField('Without one: 7 days.'), placeholder: '7d', more: true },
      tenantField,
      ...wideScopeFields,
    ],
    done: 'The invitation is made.',
    answer: (made) => <Made made={made as unknown as Schemas['CreatedInvitation']} />,
  },
  actions: [
    {
      label: 'Withdraw',
      method: 'DELETE',
      path: '/v1/invitations/{invitation}',
      params: ({ id }) => ({ invitation: id }),
      permission: 'user.write',
      command: 'invitation delete',
      plan: ({ email, login }) => `The link for ${email || login || 'this invitation'} stops working.`,
      done: 'The invitation is withdrawn.',
      danger: true,
    },
  ],
  rowActions: ['Withdraw'],
});
