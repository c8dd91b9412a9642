// Projects of a tenant, each with a network that others do not reach.
import { resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Section } from '../../parts/page_frame';
import { SmallList } from '../../parts/small_list';
import { Ago } from '../../parts/values';
import { ofTenant, tenantField } from './fields';
import { grants } from './grants';

const stateOf = ({ disabled }: { disabled: boolean }) => (disabled ? 'disabled' : 'enabled');

export const projects = resource('/v1/projects', {
  noun: 'project',
  title: 'Projects',
  page: '/projects',
  kinds: ['project'],
  permission: 'project.read',
  id: ({ name }) => name,
  rowKey: ({ tenantID, name }) => `${tenantID}/${name}`,
  name: ({ name }) => name,
  place: ({ tenantID, name }) => ({ tenantID, project: name }),
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'words', title: 'Name for people', value: ({ displayName }) => displayName },
    { key: 'state', title: 'State', value: stateOf, cell: (project) => <StateBadge state={stateOf(project)} />, width: '140px' },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '160px' },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '140px' },
  ],
  empty: { text: 'A project holds instances, volumes and secrets of people who work together.', command: 'hostler project create vision' },
  create: {
    label: 'New project',
    path: '/v1/projects',
    permission: 'project.write',
    command: 'project create',
    argument: 'name',
    fields: [
      { name: 'name', label: 'Name', required: true, placeholder: 'vision', help: 'It never changes.' },
      { name: 'displayName', label: 'Name for people', placeholder: 'Vision team' },
      tenantField,
    ],
    done: 'The project is made.',
    then: ({ name, tenantID }) => `/projects/${String(name)}?tenantID=${String(tenantID)}`,
  },
  actions: [
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/projects/{project}',
      params: ({ name }) => ({ project: name }),
      body: ({ tenantID, version }) => ({ tenantID, ifVersion: version }),
      permission: 'project.write',
      command: 'project edit',
      plan: ({ name }) => `The name ${name} stays: calls and URLs have it.`,
      fields: ({ displayName }) => [{ name: 'displayName', label: 'Name for people', initial: displayName }],
      done: 'The project is changed.',
    },
    {
      label: 'Disable',
      method: 'POST',
      path: '/v1/projects/{project}/disable',
      params: ({ name }) => ({ project: name }),
      body: ofTenant,
      permission: 'project.write',
      command: 'project disable',
      plan: ({ name }) => `Nothing can be created or started in ${name}, and credentials for it are refused. What runs keeps running.`,
      done: 'The project is disabled.',
      when: ({ disabled }) => !disabled,
      danger: true,
    },
    {
      label: 'Enable',
      method: 'POST',
      path: '/v1/projects/{project}/enable',
      params: ({ name }) => ({ project: name }),
      body: ofTenant,
      permission: 'project.write',
      command: 'project enable',
      plan: ({ name }) => `Instances can be created and started in ${name} again.`,
      done: 'The project is enabled.',
      when: ({ disabled }) => disabled,
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/projects/{project}',
      params: ({ name }) => ({ project: name }),
      query: ofTenant,
      permission: 'project.write',
      command: 'project delete',
      plan: ({ name }) => `The project ${name} is deleted with its network. It must have no live objects.`,
      confirmName: ({ name }) => name,
      done: 'The project is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/projects/{project}',
    param: 'project',
    badges: (project) => <StateBadge state={stateOf(project)} />,
    facts: (project) => [
      { name: 'Tenant', value: project.tenantID },
      { name: 'Name for people', value: project.displayName },
      { name: 'Made', value: <Ago time={project.createdAt} /> },
      ...(project.disabledAt ? [{ name: 'Disabled', value: <Ago time={project.disabledAt} /> }] : []),
    ],
    sections: (project) => (
      <Section title="Roles in the tenant and its projects">
        <SmallList kind={grants} query={{ tenantID: project.tenantID }} empty="No grant that you may see counts here." />
      </Section>
    ),
  },
});
