import { NavLink, ScrollArea, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { allows, useWhoami } from '../api/permissions';
import { type Group, type PageEntry, pages } from './pages';

const groups: Group[] = ['WORK', 'CLOUD', 'WATCH', 'SETTINGS'];

/** Pages of the navigation that the caller may open. */
export function useOwnPages(): PageEntry[] {
  const who = useWhoami();
  return pages.filter((page) => page.nav && (page.permission === undefined || allows(who, page.permission)));
}

function Entry({ page }: { page: PageEntry }) {
  const [place] = useLocation();
  const Icon = page.nav?.icon;
  const active = place === page.path || place.startsWith(`${page.path}/`);
  return (
    <NavLink
      component={Link}
      href={page.path}
      label={page.title}
      active={active}
      aria-current={active ? 'page' : undefined}
      leftSection={Icon && <Icon size={16} aria-hidden />}
      py={6}
    />
  );
}

/** What is not permitted is absent. */
export function Navigation() {
  const own = useOwnPages();
  return (
    <ScrollArea>
      {groups.map((group) => {
        const entries = own.filter((page) => page.nav?.group === group);
        if (entries.length === 0) return null;
        return (
          <div key={group}>
            <Text fz={11} fw={700} c="dimmed" px="sm" pt="sm" pb={4}>{group}</Text>
            {entries.map((page) => <Entry key={page.path} page={page} />)}
          </div>
        );
      })}
    </ScrollArea>
  );
}
