// Grants: who has which role where, and until when.
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';
import { lifetimeField, ofTenant, projectField, roleField, scopeWords, tenantField, wideScopeFields } from './fields';
import { roleLinks } from './links';

const pageOf: Record<string, string> = { user: '/members', group: '/groups', account: '/accounts' };

/** The subject by its name, as a link to its page. */
function Subject({ grant: { subject, name, tenantID } }: { grant: Schemas['Grant'] }) {
  const [kind = '', id = ''] = subject.split('/');
  const page = pageOf[kind];
  if (!page) return <>{name || subject}</>;
  const query = kind !== 'user' && tenantID ? `?tenantID=${encodeURIComponent(tenantID)}` : '';
  return <Link href={`${page}/${encodeURIComponent(id)}${query}`}>{kind} {name || id}</Link>;
}

export const grants = resource('/v1/grants', {
  noun: 'grant',
  title: 'Grants',
  page: '/grants',
  kinds: ['grant', 'group', 'user'],
  permission: 'grant.read',
  id: ({ id }) => id,
  name: ({ name, role }) => `${role} of ${name}`,
  place: ({ tenantID, project, provider }) => ({ tenantID, project, provider }),
  lead: 'Who has which role, where, and until when.',
  above: roleLinks,
  columns: [
    { key: 'subject', title: 'Who', value: ({ subject, name }) => `${subject.split('/')[0]} ${name}`, cell: (grant) => <Subject grant={grant} /> },
    { key: 'role', title: 'Role', value: ({ role }) => role, width: '160px' },
    { key: 'scope', title: 'Where', value: scopeWords },
    { key: 'expires', title: 'Ends', value: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => (expiresAt ? <Ago time={expiresAt} /> : 'never'), width: '120px' },
    { key: 'by', title: 'Given by', value: ({ madeBy }) => madeBy, width: '170px', wideOnly: true },
    { key: 'created', title: 'Given', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px', wideOnly: true },
  ],
  filters: [{ name: 'role', label: 'Role' }, { name: 'subject', label: 'Subject' }],
  empty: {
    text: 'A grant gives a role to a user, a group or a service account, in a tenant, a project or the whole cloud.',
    command: 'hostler grant create user/ann@example.com member --project default',
  },
  create: {
    label: 'Give a role',
    path: '/v1/grants',
    permission: 'grant.write',
    command: 'grant create',
    argument: 'subject',
    fields: [
      { name: 'subject', label: 'Who', required: true, placeholder: 'user/ann@example.com', help: 'user/LOGIN, group/NAME or account/NAME.' },
      roleField,
      projectField,
      lifetimeField('Without one: until it is taken away.'),
      tenantField,
      ...wideScopeFields,
    ],
    done: 'The role is given.',
  },
  actions: [
    {
      label: 'Take away',
      method: 'DELETE',
      path: '/v1/grants/{grant}',
      params: ({ id }) => ({ grant: id }),
      permission: 'grant.write',
      command: 'grant delete',
      plan: (grant) => `${grant.name} loses the role ${grant.role} in ${scopeWords(grant)} at once. What runs keeps running.`,
      done: 'The role is taken away.',
      danger: true,
    },
  ],
  rowActions: ['Take away'],
});

/** Address of the form that gives a role to this subject. */
export function grantFormLink(subject: string, item: { tenantID: string }): string {
  return `/grants/new?${new URLSearchParams({ subject, ...ofTenant(item) })}`;
}
