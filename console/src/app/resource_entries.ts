// Routes of a kind: its list, a form that makes one, and its detail.
import { createElement } from 'react';
import type { Resource } from '../parts/resource';
import type { PageEntry, PageProps } from './pages';

interface Options {
  page: string;
  title: string;
  permission: string;
  nav?: PageEntry['nav'];
  /** Its description has `create`, `detail`. */
  create?: boolean;
  detail?: boolean;
}

type Part = 'ListPage' | 'CreatePage' | 'DetailPage';

/** `resourceEntries({...}, () => import('./volumes').then((m) => m.volumes))` */
export function resourceEntries<T>(options: Options, load: () => Promise<Resource<T>>): PageEntry[] {
  const entry = (path: string, part: Part, nav?: PageEntry['nav']): PageEntry => ({
    path: options.page + path,
    title: options.title,
    permission: options.permission,
    nav,
    load: async () => {
      const [kind, parts] = await Promise.all([load(), import('../parts/resource_pages')]);
      const Page = ({ params }: PageProps) => createElement(parts[part]<T>, { kind, id: params.id ?? '' });
      return { default: Page };
    },
  });
  return [
    entry('', 'ListPage', options.nav),
    ...(options.create ? [entry('/new', 'CreatePage')] : []),
    ...(options.detail ? [entry('/:id', 'DetailPage')] : []),
  ];
}
