// Pages of the user of a tenant.
import { Boxes, HardDrive, House, ListOrdered, ListTodo, Lock, Rocket, ShipWheel } from 'lucide-react';
import type { PageEntry } from '../../app/pages';
import { resourceEntries } from '../../app/resource_entries';

export const userPages: PageEntry[] = [
  { path: '/home', title: 'Home', nav: { group: 'WORK', icon: House, letter: 'h' }, load: () => import('./home') },
  { path: '/start', title: 'Start an instance', permission: 'instance.write', nav: { group: 'WORK', icon: Rocket, letter: 's' }, load: () => import('./start') },
  { path: '/instances', title: 'Instances', permission: 'instance.read', nav: { group: 'WORK', icon: Boxes, letter: 'i' }, load: () => import('./instances') },
  { path: '/instances/:id/:tab?', title: 'Instance', permission: 'instance.read', load: () => import('./instance') },
  { path: '/jobs', title: 'Jobs', permission: 'job.read', nav: { group: 'WORK', icon: ListTodo, letter: 'j' }, load: () => import('./job/list') },
  { path: '/jobs/new', title: 'Submit a job', permission: 'job.write', load: () => import('./job/submit') },
  { path: '/jobs/:id/:tab?', title: 'Job', permission: 'job.read', load: () => import('./job/page') },
  { path: '/queues', title: 'Queues', permission: 'queue.read', nav: { group: 'WORK', icon: ListOrdered, letter: 'e' }, load: () => import('./queue/page') },
  { path: '/clusters', title: 'Clusters', permission: 'cluster.read', nav: { group: 'WORK', icon: ShipWheel, letter: 'k' }, load: () => import('./cluster/list') },
  { path: '/clusters/new', title: 'Create a cluster', permission: 'cluster.write', load: () => import('./cluster/create') },
  { path: '/clusters/:id/:tab?', title: 'Cluster', permission: 'cluster.read', load: () => import('./cluster/page') },
  ...resourceEntries(
    { page: '/volumes', title: 'Volumes', permission: 'volume.read', nav: { group: 'WORK', icon: HardDrive, letter: 'v' }, create: true, detail: true },
    () => import('./volumes').then((module) => module.volumes),
  ),
  ...resourceEntries(
    { page: '/secrets', title: 'Secrets', permission: 'secret.read', nav: { group: 'WORK', icon: Lock }, create: true, detail: true },
    () => import('./secrets').then((module) => module.secrets),
  ),
];
