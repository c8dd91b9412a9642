// Pages that belong together and link to each other.
import { type Sibling, Siblings } from '../../parts/siblings';

function linksOf(label: string, pages: readonly Sibling[]) {
  return () => <Siblings label={label} pages={pages} />;
}

export const peopleLinks = linksOf('People', [
  { path: '/members', label: 'Members', permission: 'user.read' },
  { path: '/invitations', label: 'Invitations', permission: 'user.read' },
  { path: '/groups', label: 'Groups', permission: 'group.read' },
]);

export const roleLinks = linksOf('Roles', [
  { path: '/roles', label: 'Roles', permission: 'role.read' },
  { path: '/grants', label: 'Grants', permission: 'grant.read' },
]);

export const keyLinks = linksOf('Keys', [
  { path: '/accounts', label: 'Service accounts', permission: 'account.read' },
  { path: '/api-keys', label: 'API keys', permission: 'key.read' },
]);

export const alertLinks = linksOf('Alerts', [
  { path: '/alerts', label: 'Alerts' },
  { path: '/alert-rules', label: 'Rules' },
  { path: '/silences', label: 'Silences' },
  { path: '/receivers', label: 'Receivers' },
]);

export const reportLinks = linksOf('Reports', [
  { path: '/reports/usage', label: 'Usage' },
  { path: '/reports/waste', label: 'Waste' },
  { path: '/reports/kept', label: 'Kept reports' },
  { path: '/reports/schedules', label: 'Schedules' },
]);
