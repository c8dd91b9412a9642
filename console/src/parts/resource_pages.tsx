// Pages made from the description of a kind.
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { send } from '../api/client';
import { usePermission } from '../api/permissions';
import type { Problem } from '../api/problem';
import { Action } from './action';
import { PageFrame, Section } from './page_frame';
import type { Creation, Resource } from './resource';
import { ResourceForm } from './resource_form';
import { AsyncView, NotPermitted } from './states';
import { Facts } from './values';

export { ListPage } from './list_page';

function useItem<T>(kind: Resource<T>, id: string) {
  const [search] = useSearchParams();
  const detail = kind.detail;
  const query = detail?.query?.(search) ?? { tenantID: search.get('tenantID') ?? undefined };
  return useQuery<T, Problem>({
    queryKey: [detail?.path ?? kind.path, id, query],
    queryFn: ({ signal }) => send<T>('GET', detail?.path ?? kind.path, { params: { [detail?.param ?? 'id']: id }, query, signal }),
    meta: { kinds: kind.kinds },
  });
}

/** The buttons of an item: all that are permitted and make sense now. */
export function ItemActions<T>({ kind, item, onDone }: { kind: Resource<T>; item: T; onDone?: () => void }) {
  const [, go] = useLocation();
  const after = (method: string) => () => {
    onDone?.();
    if (method === 'DELETE') go(kind.page);
  };
  return (kind.actions ?? []).map((deed) => (
    <Action key={deed.label} deed={deed} item={item} kinds={kind.kinds} place={kind.place} onDone={after(deed.method)} />
  ));
}

/** The page of one item: facts, actions, sections. */
export function DetailPage<T>({ kind, id }: { kind: Resource<T>; id: string }) {
  const query = useItem(kind, id);
  const up = { to: kind.page, label: kind.title };
  if (query.data === undefined)
    return (
      <PageFrame title={id} up={up}>
        <AsyncView query={query}>{() => null}</AsyncView>
      </PageFrame>
    );
  const item = query.data;
  return (
    <PageFrame title={kind.name(item)} up={up} badges={kind.detail?.badges?.(item)} actions={<ItemActions kind={kind} item={item} />}>
      <AsyncView query={query}>
        {() => (
          <Stack>
            <Section title="Facts">
              <Facts facts={kind.detail?.facts(item) ?? []} />
            </Section>
            {kind.detail?.sections?.(item)}
          </Stack>
        )}
      </AsyncView>
    </PageFrame>
  );
}

/** The page of a form that makes an item. */
export function CreatePage<T>({ kind }: { kind: Resource<T> }) {
  const [, go] = useLocation();
  const [shown, setShown] = useState<ReactNode>();
  const permitted = usePermission(kind.create?.permission);
  const create = kind.create;
  if (!create) return null;
  const finish = (answer: unknown) => {
    const made = answer as Record<string, unknown>;
    if (create.answer) setShown(create.answer(made));
    else go(create.then?.(made) ?? kind.page);
  };
  return (
    <PageFrame title={create.label} up={{ to: kind.page, label: kind.title }} lead={create.lead}>
      {!permitted ? <NotPermitted permission={create.permission} /> : (shown ?? <CreateForm create={create} kinds={kind.kinds} onDone={finish} />)}
    </PageFrame>
  );
}

function CreateForm({ create, kinds, onDone }: { create: Creation; kinds: string[]; onDone: (answer: unknown) => void }) {
  const [search] = useSearchParams();
  return (
    <Section title={create.label}>
      <ResourceForm {...create} submit={create.label} kinds={kinds} initial={Object.fromEntries(search)} onDone={onDone} />
    </Section>
  );
}
