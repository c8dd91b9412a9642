// Pages of the operator. A provider sees those of the own hosts, too.
import { Grid3x3 } from 'lucide-react';
import type { PageEntry } from '../../app/pages';

export const operatorPages: PageEntry[] = [
  { path: '/fleet', title: 'Fleet', permission: 'gpu.read', nav: { group: 'CLOUD', icon: Grid3x3, letter: 'f' }, load: () => import('./fleet/page') },
];
