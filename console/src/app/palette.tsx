// Ctrl-K: pages, actions, and objects of the cloud by /v1/search.
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Schemas } from '../api/client';
import { usePermission } from '../api/permissions';
import { useRead } from '../api/use_read';
import { useOwnPages } from './navigation';

/** The page of an object by its kind. */
const pageOfKind: Record<string, string> = {
  instance: '/instances', job: '/jobs', cluster: '/clusters', volume: '/volumes', host: '/hosts', zone: '/zones', spec: '/specs', stock: '/stock',
  tenant: '/tenants', project: '/projects', user: '/members', group: '/groups',
};

function foundLink(found: Schemas['SearchHit']): string | undefined {
  const page = pageOfKind[found.kind];
  if (!page) return undefined;
  const tenant = found.tenantID ? `?tenantID=${encodeURIComponent(found.tenantID)}` : '';
  return `${page}/${encodeURIComponent(found.id)}${tenant}`;
}

function useFound(typed: string): SpotlightActionData[] {
  const [q] = useDebouncedValue(typed.trim(), 200);
  const [, go] = useLocation();
  const found = useRead('/v1/search', { query: { q, limit: 12 } }, { enabled: q.length > 1 });
  return (found.data?.items ?? []).flatMap((item) => {
    const link = foundLink(item);
    if (!link) return [];
    return [{
      id: `${item.kind}/${item.id}`,
      label: item.name || item.id,
      description: [item.kind, item.state, item.tenantID, item.project].filter(Boolean).join(' · '),
      keywords: typed,
      onClick: () => go(link),
    }];
  });
}

function usePageActions(): SpotlightActionGroupData[] {
  const [, go] = useLocation();
  const own = useOwnPages();
  const start = usePermission('instance.write');
  const submit = usePermission('job.write');
  const create = usePermission('cluster.write');
  const entries = own.map((page) => ({
    id: page.path,
    label: page.title,
    leftSection: page.nav && <page.nav.icon size={16} aria-hidden />,
    onClick: () => go(page.path),
  }));
  const action = (path: string, label: string) => ({ id: `action ${path}`, label, leftSection: <Plus size={16} aria-hidden />, onClick: () => go(path) });
  const actions = [
    ...(start ? [action('/start', 'Start an instance')] : []),
    ...(submit ? [action('/jobs/new', 'Submit a job')] : []),
    ...(create ? [action('/clusters/new', 'Create a cluster')] : []),
  ];
  return [
    { group: 'Actions', actions },
    { group: 'Pages', actions: entries },
  ];
}

export function Palette() {
  const [typed, setTyped] = useState('');
  const found = useFound(typed);
  const groups = usePageActions().filter((group) => group.actions.length > 0);
  return (
    <Spotlight
      actions={[...groups, ...(found.length > 0 ? [{ group: 'Objects', actions: found }] : [])]}
      query={typed}
      onQueryChange={setTyped}
      shortcut="mod + K"
      highlightQuery
      scrollable
      maxHeight={420}
      limit={20}
      nothingFound="Nothing has this name."
      searchProps={{ leftSection: <Search size={16} aria-hidden />, placeholder: 'Search pages, objects, actions', 'aria-label': 'Search' }}
    />
  );
}
