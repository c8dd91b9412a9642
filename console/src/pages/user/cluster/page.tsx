// One cluster: why it is as it is, its pools, its nodes with their steps, and its events.
import { Button, Tabs } from '@mantine/core';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { PageProps } from '../../../app/pages';
import { useRead } from '../../../api/use_read';
import { Action } from '../../../parts/action';
import { EventList } from '../../../parts/event_list';
import { PageFrame, Section } from '../../../parts/page_frame';
import { AsyncView, Empty } from '../../../parts/states';
import { remove, removeByForce } from './deeds';
import { clusterPage, clusters, ClusterState } from './kind';
import { ClusterNodes } from './nodes';
import { ClusterOverview } from './overview';
import type { Cluster } from './words';

function Events({ cluster }: { cluster: Cluster }) {
  return (
    <Section title="Events">
      <EventList
        path="/v1/clusters/{cluster}/events"
        params={{ cluster: cluster.id }}
        query={{ tenantID: cluster.tenantID, limit: 100 }}
        kinds={['cluster', 'event']}
        empty={<Empty text="Nothing has happened to it yet." />}
      />
    </Section>
  );
}

const tabs = ['overview', 'nodes', 'events'];

function ClusterTabs({ cluster, tab }: { cluster: Cluster; tab: string }) {
  const [, go] = useLocation();
  return (
    <Tabs value={tabs.includes(tab) ? tab : 'overview'} onChange={(next) => go(clusterPage(cluster, next === 'overview' ? '' : (next ?? '')))} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="nodes">Nodes</Tabs.Tab>
        <Tabs.Tab value="events">Events</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview"><ClusterOverview cluster={cluster} /></Tabs.Panel>
      <Tabs.Panel value="nodes"><ClusterNodes cluster={cluster} /></Tabs.Panel>
      <Tabs.Panel value="events"><Events cluster={cluster} /></Tabs.Panel>
    </Tabs>
  );
}

export default function ClusterPage({ params }: PageProps) {
  const id = params.id ?? '';
  const [search] = useSearchParams();
  const query = useRead('/v1/clusters/{cluster}', { params: { cluster: id }, query: { tenantID: search.get('tenantID') ?? undefined } }, { kinds: clusters.kinds });
  const cluster = query.data;
  const up = { to: '/clusters', label: 'Clusters' };
  // It was seen, and is there no longer: its last host is clean.
  if (cluster && query.error?.status === 404)
    return (
      <PageFrame title={cluster.name} up={up}>
        <Empty text={`${cluster.name} is deleted, and its hosts are clean.`} action={<Button component={Link} href="/clusters">Clusters</Button>} />
      </PageFrame>
    );
  // They stay on this page, which shows how far the deletion is.
  const actions = cluster && [remove, removeByForce].map((deed) => <Action key={deed.label} deed={deed} item={cluster} kinds={clusters.kinds} place={clusters.place} />);
  return (
    <PageFrame title={cluster?.name ?? id} up={up} badges={cluster && <ClusterState cluster={cluster} />} actions={actions}>
      <AsyncView query={query}>{(it) => <ClusterTabs cluster={it} tab={params.tab ?? 'overview'} />}</AsyncView>
    </PageFrame>
  );
}
