// Identity providers (OpenID Connect): people sign in with accounts that they have elsewhere.
import { Alert, List, Stack, Text } from '@mantine/core';
import { CircleCheck, CircleX } from 'lucide-react';
import type { Schemas } from '../../api/client';
import { Section } from '../../parts/page_frame';
import { type FormField, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Facts, Id } from '../../parts/values';
import { tenantField } from './fields';

type Provider = Schemas['IdentityProvider'];
type GroupRole = Schemas['GroupRole'];

const stateOf = ({ disabled }: { disabled: boolean }) => (disabled ? 'disabled' : 'enabled');

/** "engineers=member@vision": group, role, project. */
function groupRoleOf(text: string): Partial<GroupRole> {
  const at = text.lastIndexOf('=');
  const [role = '', project] = text.slice(at + 1).split('@');
  return { group: text.slice(0, Math.max(at, 0)).trim(), role: role.trim(), ...(project ? { project: project.trim() } : {}) };
}

function groupRoleText({ group, role, project }: GroupRole): string {
  return `${group}=${role}${project ? `@${project}` : ''}`;
}

function shapeRoles(body: Record<string, unknown>): Record<string, unknown> {
  const texts = body.groupRoles as string[] | undefined;
  return texts ? { ...body, groupRoles: texts.map(groupRoleOf) } : body;
}

function commonFields(provider?: Provider): FormField[] {
  return [
    { name: 'clientID', label: 'Client id', required: true, initial: provider?.clientID, help: 'Of Hostler at the provider.' },
    { name: 'clientSecret', label: 'Client secret', kind: 'secret', help: provider?.hasClientSecret ? 'One is set. Left empty, it stays.' : 'Without one: PKCE alone.' },
    { name: 'groupsClaim', label: 'Claim with the groups', placeholder: 'groups', initial: provider?.groupsClaim },
    { name: 'groupRoles', label: 'Roles of groups', kind: 'words', placeholder: 'engineers=member@vision', help: 'GROUP=ROLE, or GROUP=ROLE@PROJECT.', initial: provider?.groupRoles.map(groupRoleText) },
    { name: 'defaultRole', label: 'Role of everyone who signs in by it', kind: 'choice', valuesFrom: { path: '/v1/roles', field: 'name', help: 'description' }, initial: provider?.defaultRole },
    { name: 'createsUsers', label: 'Make a user at the first sign-in of a person', kind: 'flag', initial: provider?.createsUsers },
    { name: 'trustedSecondFactor', label: 'It asks for a second factor, so Hostler does not', kind: 'flag', initial: provider?.trustedSecondFactor },
    { name: 'listed', label: 'Its button stands on all sign-in pages', kind: 'flag', initial: provider?.listed },
    { name: 'scopes', label: 'Scopes in addition to openid', kind: 'words', placeholder: 'profile', initial: provider?.scopes, more: true },
    { name: 'authorities', label: 'Certificates (PEM) for its TLS', kind: 'long', help: provider?.hasAuthorities ? 'Some are set. Left empty, they stay.' : 'Without them: those of the system.', more: true },
  ];
}

function Tested({ result }: { result: Schemas['TestedIdentityProvider'] }) {
  return (
    <Stack>
      <Alert color={result.ok ? 'green' : 'red'} icon={result.ok ? <CircleCheck aria-hidden /> : <CircleX aria-hidden />} role="status"
        title={result.ok ? 'Its discovery document and its keys were fetched; nothing is wrong with them.' : 'It does not work.'}>
        {result.problems.length > 0 && <List size="sm">{result.problems.map((problem) => <List.Item key={problem}>{problem}</List.Item>)}</List>}
      </Alert>
      <Facts
        facts={[
          { name: 'Browsers are sent to', value: result.authorizationEndpoint },
          { name: 'Codes are redeemed at', value: result.tokenEndpoint },
          { name: 'Further claims', value: result.userinfoEndpoint },
          { name: 'End of a session', value: result.endSessionEndpoint },
          { name: 'Keys', value: result.keysUrl },
        ]}
      />
    </Stack>
  );
}

function Register({ provider }: { provider: Provider }) {
  return (
    <Section title="To register at the provider">
      {!provider.redirectUrl && <Text fz="sm" mb="sm">The masters have no public URL (`hostler master --public-url`), so these are not known.</Text>}
      <Facts
        facts={[
          { name: 'Redirect URI', value: <Id value={provider.redirectUrl} /> },
          { name: 'Back-channel logout URI', value: <Id value={provider.logoutUrl} /> },
          { name: 'Post-logout redirect URI', value: <Id value={provider.signedOutUrl} /> },
        ]}
      />
    </Section>
  );
}

export const identityProviders = resource('/v1/identity-providers', {
  noun: 'identity provider',
  title: 'Identity providers',
  page: '/identity-providers',
  kinds: ['identity-provider'],
  permission: 'idp.read',
  id: ({ id }) => id,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'issuer', title: 'Issuer', value: ({ issuer }) => issuer },
    { key: 'state', title: 'State', value: stateOf, cell: (provider) => <StateBadge state={stateOf(provider)} />, width: '120px' },
    { key: 'role', title: 'Role of everyone', value: ({ defaultRole }) => defaultRole, width: '160px' },
    { key: 'tenant', title: 'Of', value: ({ tenantID }) => tenantID || 'the cloud', width: '140px' },
    { key: 'created', title: 'Made', value: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago time={createdAt} />, width: '120px', wideOnly: true },
  ],
  empty: {
    text: 'With an identity provider (OpenID Connect) people sign in with the account of their organization, and its groups give roles.',
    command: 'hostler idp create acme --issuer https://id.example.com --client-id hostler',
  },
  create: {
    label: 'New identity provider',
    path: '/v1/identity-providers',
    permission: 'idp.write',
    command: 'idp create',
    argument: 'name',
    fields: [
      { name: 'name', label: 'Label of its button', required: true, placeholder: 'Acme' },
      { name: 'issuer', label: 'Issuer URL', required: true, placeholder: 'https://id.example.com', help: 'Exactly as the provider writes it. It cannot be changed later.' },
      ...commonFields(),
      { ...tenantField, help: 'Whose people sign in by it. For operators: without one, of the cloud.' },
    ],
    shape: shapeRoles,
    done: 'The identity provider is made. Test it.',
    then: ({ id }) => `/identity-providers/${String(id)}`,
  },
  actions: [
    {
      label: 'Test',
      method: 'POST',
      path: '/v1/identity-providers/{identityProvider}/test',
      params: ({ id }) => ({ identityProvider: id }),
      permission: 'idp.write',
      command: 'idp test',
      plan: ({ issuer }) => `A master fetches the discovery document and the keys of ${issuer}. Sign-ins are not affected.`,
      done: 'The test is done.',
      answer: (result) => <Tested result={result as Schemas['TestedIdentityProvider']} />,
      noDryRun: true,
    },
    {
      label: 'Edit',
      method: 'PATCH',
      path: '/v1/identity-providers/{identityProvider}',
      params: ({ id }) => ({ identityProvider: id }),
      body: ({ version }) => ({ ifVersion: version }),
      permission: 'idp.write',
      command: 'idp edit',
      plan: ({ issuer }) => `The issuer ${issuer} stays.`,
      fields: (provider) => [{ name: 'name', label: 'Label of its button', required: true, initial: provider.name }, ...commonFields(provider)],
      shape: shapeRoles,
      done: 'The identity provider is changed.',
    },
    {
      label: 'Disable',
      method: 'PATCH',
      path: '/v1/identity-providers/{identityProvider}',
      params: ({ id }) => ({ identityProvider: id }),
      body: () => ({ disabled: true }),
      permission: 'idp.write',
      command: 'idp edit',
      plan: () => 'No sign-in by it works, and all sessions that came by it end.',
      done: 'The identity provider is disabled.',
      when: ({ disabled }) => !disabled,
      danger: true,
    },
    {
      label: 'Enable',
      method: 'PATCH',
      path: '/v1/identity-providers/{identityProvider}',
      params: ({ id }) => ({ identityProvider: id }),
      body: () => ({ disabled: false }),
      permission: 'idp.write',
      command: 'idp edit',
      plan: () => 'People can sign in by it again.',
      done: 'The identity provider is enabled.',
      when: ({ disabled }) => disabled,
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/identity-providers/{identityProvider}',
      params: ({ id }) => ({ identityProvider: id }),
      permission: 'idp.write',
      command: 'idp delete',
      plan: ({ name }) => `${name} is deleted. Its sessions end, and the roles that it gave are taken away. Users stay.`,
      confirmName: ({ name }) => name,
      done: 'The identity provider is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/identity-providers/{identityProvider}',
    param: 'identityProvider',
    query: () => ({}),
    badges: (provider) => <StateBadge state={stateOf(provider)} />,
    facts: (provider) => [
      { name: 'Issuer', value: provider.issuer },
      { name: 'Client id', value: provider.clientID },
      { name: 'Client secret', value: provider.hasClientSecret ? 'set' : 'none' },
      { name: 'Of', value: provider.tenantID || 'the cloud' },
      { name: 'Scopes', value: provider.scopes.join(' ') },
      { name: 'Claim with the groups', value: provider.groupsClaim },
      { name: 'Roles of groups', value: provider.groupRoles.map(groupRoleText).join(', ') },
      { name: 'Role of everyone', value: provider.defaultRole },
      { name: 'Makes users', value: provider.createsUsers ? 'yes' : 'no' },
      { name: 'Second factor', value: provider.trustedSecondFactor ? 'left to the provider' : 'asked for by Hostler' },
      { name: 'Button', value: provider.listed || !provider.tenantID ? 'on all sign-in pages' : 'on sign-in pages of its tenant' },
    ],
    sections: (provider) => <Register provider={provider} />,
  },
});
