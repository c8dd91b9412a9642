// Links between pages that belong together, above their content.
import { Button, Group } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { allows, useWhoami } from '../api/permissions';

export interface Sibling {
  path: string;
  label: string;
  permission?: string;
}

/** Those that are not permitted are absent; one alone needs no links. */
export function Siblings({ pages, label }: { pages: readonly Sibling[]; label: string }) {
  const who = useWhoami();
  const [place] = useLocation();
  const own = pages.filter(({ permission }) => permission === undefined || allows(who, permission));
  if (own.length < 2) return null;
  return (
    <Group component="nav" aria-label={label} gap={4}>
      {own.map(({ path, label: words }) => {
        const here = place === path;
        return (
          <Button key={path} component={Link} href={path} size="compact-sm" variant={here ? 'light' : 'subtle'} color={here ? undefined : 'gray'} aria-current={here ? 'page' : undefined}>
            {words}
          </Button>
        );
      })}
    </Group>
  );
}
