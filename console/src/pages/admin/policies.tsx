// Policies: what may be requested, in the cloud and in a tenant.
import type { Schemas } from '../../api/client';
import { type FormField, resource } from '../../parts/resource';
import { Ago } from '../../parts/values';
import { durationText } from '../../parts/words';
import { durationWord, ofTenant, tenantField } from './fields';

type Policy = Schemas['Policy'];

/** The rules that limit something, in words. */
function ruleWords(policy: Policy): string[] {
  const { specs, zones, trust, images, maxRunSeconds, publicPorts, shareLinks } = policy;
  return [
    specs && `specs ${specs.join(' ')}`,
    zones && `zones ${zones.join(' ')}`,
    trust && `hosts at least ${trust}`,
    images && `images ${images.join(' ')}`,
    maxRunSeconds !== undefined && `runs of at most ${durationText(maxRunSeconds)}`,
    !publicPorts && 'no public ports',
    !shareLinks && 'no share links',
  ].filter((rule): rule is string => typeof rule === 'string');
}

function ruleFields(policy?: Policy): FormField[] {
  return [
    { name: 'specs', label: 'Specs', kind: 'words', placeholder: 'h100-*', help: 'Only these; * stands for any text. Without one: all.', initial: policy?.specs },
    { name: 'zones', label: 'Zones', kind: 'set', valuesFrom: { path: '/v1/zones', field: 'name' }, help: 'Only these. Without one: all.', initial: policy?.zones },
    { name: 'images', label: 'Images', kind: 'words', placeholder: 'registry.example.com/*', help: 'Only these. Without one: all.', initial: policy?.images },
    { name: 'trust', label: 'Least trust of hosts', kind: 'choice', values: ['community', 'trusted'], initial: policy?.trust },
    { name: 'maxRunSeconds', label: 'Longest run', kind: 'duration', placeholder: '24h', initial: durationWord(policy?.maxRunSeconds) },
    { name: 'publicPorts', label: 'Ports may be open without a sign-in', kind: 'flag', initial: policy?.publicPorts ?? true },
    { name: 'shareLinks', label: 'Share links may be made and opened', kind: 'flag', initial: policy?.shareLinks ?? true },
  ];
}

/** An absent rule allows all; an empty list would allow nothing. */
function withoutEmptyRules(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

const of = ({ tenantID }: { tenantID: string }) => (tenantID ? `tenant ${tenantID}` : 'the whole cloud');

export const policies = resource('/v1/policies', {
  noun: 'policy',
  title: 'Policies',
  page: '/policies',
  kinds: ['policy'],
  permission: 'policy.read',
  id: ({ id }) => id,
  name: of,
  place: ({ tenantID }) => ({ tenantID }),
  lead: 'Rules for what may be requested. Those of the cloud and of the tenant both count.',
  columns: [
    { key: 'of', title: 'Binds', value: of, width: '220px' },
    { key: 'rules', title: 'Rules', value: (policy) => ruleWords(policy).join('; ') || 'none' },
    { key: 'changed', title: 'Changed', value: ({ changedAt }) => changedAt, cell: ({ changedAt }) => <Ago time={changedAt} />, width: '140px' },
  ],
  empty: { text: 'Without a policy everything that the cloud has may be requested.', command: "hostler policy set --spec 'h100-*' --public-ports=false" },
  create: {
    label: 'Set a policy',
    method: 'PUT',
    path: '/v1/policies',
    permission: 'policy.write',
    command: 'policy set',
    lead: 'It replaces the present policy of the tenant. What runs keeps running.',
    fields: [{ ...tenantField, more: false, help: 'For operators: without one, of the whole cloud.' }, ...ruleFields()],
    shape: withoutEmptyRules,
    done: 'The policy is set.',
    then: ({ id }) => `/policies/${String(id)}`,
  },
  actions: [
    {
      label: 'Replace',
      method: 'PUT',
      path: '/v1/policies',
      body: (policy) => ({ ...ofTenant(policy), ifVersion: policy.version }),
      permission: 'policy.write',
      command: 'policy set',
      plan: (policy) => `All rules for ${of(policy)} are replaced by these. What runs keeps running.`,
      fields: ruleFields,
      shape: withoutEmptyRules,
      done: 'The policy is replaced.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/policies/{policy}',
      params: ({ id }) => ({ policy: id }),
      permission: 'policy.write',
      command: 'policy delete',
      plan: (policy) => `The rules for ${of(policy)} no longer count.`,
      confirmName: ({ id }) => id,
      done: 'The policy is deleted.',
      danger: true,
    },
  ],
  detail: {
    path: '/v1/policies/{policy}',
    param: 'policy',
    query: () => ({}),
    facts: (policy) => [
      { name: 'Specs', value: policy.specs?.join(' ') ?? 'all' },
      { name: 'Zones', value: policy.zones?.join(' ') ?? 'all' },
      { name: 'Images', value: policy.images?.join(' ') ?? 'all' },
      { name: 'Least trust of hosts', value: policy.trust ?? 'any' },
      { name: 'Longest run', value: policy.maxRunSeconds === undefined ? 'no limit' : durationText(policy.maxRunSeconds) },
      { name: 'Public ports', value: policy.publicPorts ? 'allowed' : 'not allowed' },
      { name: 'Share links', value: policy.shareLinks ? 'allowed' : 'not allowed' },
      { name: 'Changed', value: <Ago time={policy.changedAt} /> },
    ],
  },
});
