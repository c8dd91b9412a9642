// Pages of the operator. A provider sees those of the own hosts, too.
import { Cpu, Grid3x3, Server } from 'lucide-react';
import type { PageEntry } from '../../app/pages';
import { resourceEntries } from '../../app/resource_entries';

export const operatorPages: PageEntry[] = [
  { path: '/fleet', title: 'Fleet', permission: 'gpu.read', nav: { group: 'CLOUD', icon: Grid3x3, letter: 'f' }, load: () => import('./fleet/page') },
  ...resourceEntries(
    { page: '/hosts', title: 'Hosts', permission: 'host.read', nav: { group: 'CLOUD', icon: Server, letter: 'o' }, detail: true },
    () => import('./hosts').then((module) => module.hosts),
  ),
  ...resourceEntries(
    { page: '/gpus', title: 'GPUs', permission: 'gpu.read', nav: { group: 'CLOUD', icon: Cpu, letter: 'g' }, detail: true },
    () => import('./gpus').then((module) => module.gpus),
  ),
];
