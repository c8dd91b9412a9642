import { Stack, Text } from '@mantine/core';
import { Component, type LazyExoticComponent, type ComponentType, type ReactNode, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { usePermission, useWhoamiRead } from '../api/permissions';
import { asProblem, type Problem } from '../api/problem';
import { lazily } from '../parts/lazily';
import { PageFrame } from '../parts/page_frame';
import { Loading, NotPermitted, Refusal } from '../parts/states';
import { type PageEntry, type PageProps, pages } from './pages';

type Loaded = PageEntry & { Page: LazyExoticComponent<ComponentType<PageProps>> };

// "/volumes/new" before "/volumes/:id".
const routes: Loaded[] = pages
  .map((page) => ({ ...page, Page: lazily(page.load) }))
  .sort((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')));

/** An error in a page leaves the navigation standing. */
class Guard extends Component<{ place: string; children: ReactNode }, { problem?: Problem; place: string }> {
  override state: { problem?: Problem; place: string } = { place: this.props.place };

  static getDerivedStateFromError(error: unknown) {
    return { problem: asProblem(error) };
  }

  static getDerivedStateFromProps(props: { place: string }, state: { place: string }) {
    return props.place === state.place ? null : { place: props.place, problem: undefined };
  }

  override render() {
    if (!this.state.problem) return this.props.children;
    return (
      <PageFrame title="This page failed">
        <Refusal problem={this.state.problem} retry={() => location.reload()} />
      </PageFrame>
    );
  }
}

function Permitted({ page, params }: { page: Loaded; params: PageProps['params'] }) {
  const who = useWhoamiRead();
  const permitted = usePermission(page.permission);
  if (!who.data && who.error)
    return <PageFrame title={page.title}><Refusal problem={who.error} retry={() => void who.refetch()} /></PageFrame>;
  if (!who.data) return <Loading />;
  if (!permitted && page.permission)
    return <PageFrame title={page.title}><NotPermitted permission={page.permission} /></PageFrame>;
  return <page.Page params={params} />;
}

function NoSuchPage() {
  return (
    <PageFrame title="No such page">
      <Stack><Text>The console has no page at this address. The navigation lists those that you may open.</Text></Stack>
    </PageFrame>
  );
}

export function Routes() {
  const [place] = useLocation();
  return (
    <Guard place={place}>
      <Suspense fallback={<Loading lines={8} />}>
        <Switch>
          {routes.map((page) => (
            <Route key={page.path} path={page.path}>
              {(params: PageProps['params']) => <Permitted page={page} params={params} />}
            </Route>
          ))}
          <Route path="/"><Redirect to="/home" replace /></Route>
          <Route><NoSuchPage /></Route>
        </Switch>
      </Suspense>
    </Guard>
  );
}
