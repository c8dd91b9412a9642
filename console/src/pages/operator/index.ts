// Pages of the operator. A provider sees those of the own hosts, too.
import { ArrowsUpFromLine, BadgeDollarSign, Blend, Cpu, Grid3x3, MapPin, Network, PackageOpen, Puzzle, Server, ShieldCheck, Tags } from 'lucide-react';
import type { PageEntry } from '../../app/pages';
import { resourceEntries } from '../../app/resource_entries';

const catalogue = () => import('./catalogue');

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
  ...resourceEntries(
    { page: '/zones', title: 'Zones', permission: 'zone.read', nav: { group: 'CLOUD', icon: MapPin, letter: 'z' }, create: true, detail: true },
    () => import('./zones').then((module) => module.zones),
  ),
  ...resourceEntries(
    { page: '/access-points', title: 'Access points', permission: 'access.read', nav: { group: 'CLOUD', icon: Network }, detail: true },
    () => import('./access_points').then((module) => module.accessPoints),
  ),
  ...resourceEntries(
    { page: '/stock', title: 'Stock', permission: 'stock.read', nav: { group: 'CLOUD', icon: PackageOpen, letter: 't' }, create: true, detail: true },
    () => import('./stock').then((module) => module.stock),
  ),
  ...resourceEntries(
    { page: '/specs', title: 'Specs', permission: 'spec.read', nav: { group: 'CLOUD', icon: Puzzle }, create: true, detail: true },
    () => catalogue().then((module) => module.specs),
  ),
  ...resourceEntries(
    { page: '/prices', title: 'Prices', permission: 'price.read', nav: { group: 'CLOUD', icon: BadgeDollarSign }, create: true },
    () => catalogue().then((module) => module.prices),
  ),
  ...resourceEntries(
    { page: '/offers', title: 'Offers', permission: 'offer.read', nav: { group: 'CLOUD', icon: Tags } },
    () => catalogue().then((module) => module.offers),
  ),
  { path: '/consolidations/new', title: 'New consolidation', permission: 'consolidation.write', load: () => import('./consolidate') },
  ...resourceEntries(
    { page: '/consolidations', title: 'Consolidations', permission: 'consolidation.read', nav: { group: 'CLOUD', icon: Blend }, detail: true },
    () => import('./consolidations').then((module) => module.consolidations),
  ),
  ...resourceEntries(
    { page: '/foreign-workloads', title: 'Foreign workloads', permission: 'foreign.read', nav: { group: 'CLOUD', icon: ArrowsUpFromLine } },
    () => import('./foreign').then((module) => module.foreignWorkloads),
  ),
  { path: '/components', title: 'Components', permission: 'access.read', nav: { group: 'SETTINGS', icon: ShieldCheck }, load: () => import('./components') },
];
