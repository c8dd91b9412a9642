// Pages of the provider, about hosts. Lists of hosts and GPUs are the operator's: a provider sees the own ones there.
import { Gauge, Plug } from 'lucide-react';
import type { PageEntry } from '../../app/pages';
import { resourceEntries } from '../../app/resource_entries';

export const providerPages: PageEntry[] = [
  ...resourceEntries(
    { page: '/host-usage', title: 'Use of hosts', permission: 'host.read', nav: { group: 'CLOUD', icon: Gauge } },
    () => import('./host_usage').then((module) => module.hostUsage),
  ),
  { path: '/add-host', title: 'Add a host', permission: 'host.write', nav: { group: 'CLOUD', icon: Plug }, load: () => import('./add_host') },
  ...resourceEntries(
    { page: '/host-tokens', title: 'Host tokens', permission: 'host.read' },
    () => import('./host_tokens').then((module) => module.hostTokens),
  ),
];
