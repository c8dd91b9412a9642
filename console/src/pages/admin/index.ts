// Pages of the tenant administrator.
import { Bell, Building2, ChartColumn, CircleUserRound, FolderTree, Gauge, IdCard, KeyRound, Scale, ScrollText, ShieldCheck, Users } from 'lucide-react';
import type { PageEntry } from '../../app/pages';
import { resourceEntries } from '../../app/resource_entries';

const watch: PageEntry[] = [
  ...resourceEntries({ page: '/alerts', title: 'Alerts', permission: 'alert.read', nav: { group: 'WATCH', icon: Bell, letter: 'a' }, detail: true }, () => import('./alerts').then((m) => m.alerts)),
  ...resourceEntries({ page: '/alert-rules', title: 'Alert rules', permission: 'alert.read', create: true, detail: true }, () => import('./alert_rules').then((m) => m.alertRules)),
  ...resourceEntries({ page: '/silences', title: 'Silences', permission: 'alert.read', create: true }, () => import('./silences').then((m) => m.silences)),
  ...resourceEntries({ page: '/receivers', title: 'Receivers', permission: 'alert.read', create: true, detail: true }, () => import('./receivers').then((m) => m.receivers)),
  { path: '/reports', title: 'Usage & cost', permission: 'gpu.usage', nav: { group: 'WATCH', icon: ChartColumn, letter: 'u' }, load: () => import('./usage') },
  ...resourceEntries({ page: '/reports/kept', title: 'Kept reports', permission: 'gpu.usage' }, () => import('./kept_reports').then((m) => m.keptReports)),
  ...resourceEntries({ page: '/reports/schedules', title: 'Report schedules', permission: 'gpu.usage', create: true }, () => import('./schedules').then((m) => m.schedules)),
  { path: '/reports/:view', title: 'Usage & cost', permission: 'gpu.usage', load: () => import('./usage') },
  ...resourceEntries({ page: '/audit', title: 'Audit', permission: 'audit.read', nav: { group: 'WATCH', icon: ScrollText } }, () => import('./audit').then((m) => m.audit)),
];

const people: PageEntry[] = [
  ...resourceEntries({ page: '/members', title: 'Members', permission: 'user.read', nav: { group: 'SETTINGS', icon: Users, letter: 'm' }, create: true, detail: true }, () => import('./members').then((m) => m.members)),
  ...resourceEntries({ page: '/invitations', title: 'Invitations', permission: 'user.read', create: true }, () => import('./invitations').then((m) => m.invitations)),
  ...resourceEntries({ page: '/groups', title: 'Groups', permission: 'group.read', create: true, detail: true }, () => import('./groups').then((m) => m.groups)),
  ...resourceEntries({ page: '/roles', title: 'Roles', permission: 'role.read', nav: { group: 'SETTINGS', icon: ShieldCheck }, create: true, detail: true }, () => import('./roles').then((m) => m.roles)),
  ...resourceEntries({ page: '/grants', title: 'Grants', permission: 'grant.read', create: true }, () => import('./grants').then((m) => m.grants)),
  ...resourceEntries({ page: '/accounts', title: 'Service accounts', permission: 'account.read', nav: { group: 'SETTINGS', icon: KeyRound }, create: true, detail: true }, () => import('./accounts').then((m) => m.accounts)),
  ...resourceEntries({ page: '/api-keys', title: 'API keys', permission: 'key.read', create: true }, () => import('./api_keys').then((m) => m.apiKeys)),
  ...resourceEntries({ page: '/sessions', title: 'Sessions', permission: 'self.read' }, () => import('./sessions').then((m) => m.sessions)),
];

const settings: PageEntry[] = [
  ...resourceEntries({ page: '/projects', title: 'Projects', permission: 'project.read', nav: { group: 'SETTINGS', icon: FolderTree, letter: 'p' }, create: true, detail: true }, () => import('./projects').then((m) => m.projects)),
  { path: '/quotas', title: 'Quotas', permission: 'quota.read', nav: { group: 'SETTINGS', icon: Gauge, letter: 'q' }, load: () => import('./quotas') },
  ...resourceEntries({ page: '/policies', title: 'Policies', permission: 'policy.read', nav: { group: 'SETTINGS', icon: Scale }, create: true, detail: true }, () => import('./policies').then((m) => m.policies)),
  ...resourceEntries({ page: '/tenants', title: 'Tenants', permission: 'tenant.read', nav: { group: 'SETTINGS', icon: Building2 }, create: true, detail: true }, () => import('./tenants').then((m) => m.tenants)),
  ...resourceEntries({ page: '/identity-providers', title: 'Identity providers', permission: 'idp.read', nav: { group: 'SETTINGS', icon: IdCard }, create: true, detail: true }, () => import('./identity_providers').then((m) => m.identityProviders)),
  { path: '/account', title: 'Your account', nav: { group: 'SETTINGS', icon: CircleUserRound }, load: () => import('./account') },
];

export const adminPages: PageEntry[] = [...watch, ...people, ...settings];
