// All pages, by area. An area lists its own in src/pages/AREA/index.ts; each is loaded when it is opened.
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import { adminPages } from '../pages/admin';
import { operatorPages } from '../pages/operator';
import { providerPages } from '../pages/provider';
import { userPages } from '../pages/user';

export type Group = 'WORK' | 'CLOUD' | 'WATCH' | 'SETTINGS';

export interface PageProps {
  /** Words of the route: "/volumes/:id" gives `params.id`. */
  params: Record<string, string | undefined>;
}

export interface PageEntry {
  /** Below /console: "/volumes", "/volumes/:id". */
  path: string;
  title: string;
  permission?: string;
  /** In the navigation; without it the page is reached from others. */
  nav?: { group: Group; icon: LucideIcon; letter?: string };
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

export const pages: PageEntry[] = [...userPages, ...operatorPages, ...providerPages, ...adminPages];
