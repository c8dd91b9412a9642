// Fields and words that several kinds of the administrator share.
import type { FormField } from '../../parts/resource';

export const tenantField: FormField = {
  name: 'tenantID', label: 'Tenant', kind: 'choice', valuesFrom: { path: '/v1/tenants', field: 'name' },
  help: 'For operators; others have their own.', more: true,
};

export const projectField: FormField = {
  name: 'project', label: 'Project', kind: 'choice', valuesFrom: { path: '/v1/projects', field: 'name' },
  help: 'Without one: the whole tenant.',
};

export const roleField: FormField = {
  name: 'role', label: 'Role', kind: 'choice', required: true, valuesFrom: { path: '/v1/roles', field: 'name', help: 'description' },
};

export const wideScopeFields: readonly FormField[] = [
  { name: 'provider', label: 'Provider', help: 'The role counts for the hosts of this provider, in place of a tenant.', more: true },
  { name: 'cloud', label: 'In the whole cloud', kind: 'flag', more: true },
];

export function lifetimeField(help: string): FormField {
  return { name: 'ttlSeconds', label: 'Lifetime', kind: 'duration', help, placeholder: '30d' };
}

/** `tenantID` of a call, where there is one: objects of the operator have none. */
export function ofTenant({ tenantID }: { tenantID: string }): { tenantID?: string } {
  return tenantID ? { tenantID } : {};
}

const units = [['w', 604_800], ['d', 86_400], ['h', 3600], ['m', 60]] as const;

/** Seconds as a form takes them: "1d", "90s". */
export function durationWord(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  const unit = units.find(([, size]) => seconds > 0 && seconds % size === 0);
  return unit ? `${seconds / unit[1]}${unit[0]}` : `${seconds}s`;
}

interface Scoped {
  tenantID: string;
  project: string;
  provider: string;
}

/** Where a role counts, in words. */
export function scopeWords({ tenantID, project, provider }: Scoped): string {
  if (provider) return `hosts of ${provider}`;
  if (project) return `project ${project} of ${tenantID}`;
  return tenantID ? `tenant ${tenantID}` : 'the whole cloud';
}
