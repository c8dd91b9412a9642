// One instance: what it is and why, its terminal, logs, metrics and events.
import { Button, SimpleGrid, Tabs } from '@mantine/core';
import { ExternalLink } from 'lucide-react';
import { useLocation, useSearchParams } from 'wouter';
import type { PageProps } from '../../app/pages';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Chart } from '../../parts/chart';
import { EventList } from '../../parts/event_list';
import { Logs } from '../../parts/logs';
import { PageFrame, Section } from '../../parts/page_frame';
import { RangePicker } from '../../parts/range';
import { ItemActions } from '../../parts/resource_pages';
import { AsyncView, Empty, NotPermitted } from '../../parts/states';
import { Terminal } from '../../parts/terminal';
import { type Instance, instancePage, instances, InstanceState } from './instance_kind';
import { InstanceOverview } from './instance_overview';
import { SimulatedBadge } from '../../parts/state_badge';

function OpenButton({ instance }: { instance: Instance }) {
  const mayEnter = usePermission('instance.enter', instance);
  const url = instance.urls[0]?.url;
  if (!mayEnter || !url || instance.state !== 'running') return null;
  return (
    <Button component="a" href={url} target="_blank" rel="noreferrer" size="xs" leftSection={<ExternalLink size={14} />}>
      Open
    </Button>
  );
}

function Metrics({ instance }: { instance: Instance }) {
  const where = `workload=${instance.instanceID} tenant=${instance.tenantID}`;
  return (
    <Section title="Use" actions={<RangePicker />}>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Chart title="CPU" metric="instance_cpu_ms" where={where} />
        <Chart title="Memory" metric="instance_memory_bytes" where={where} />
        <Chart title="Network, received" metric="instance_network_received_bytes" where={where} />
        <Chart title="Network, sent" metric="instance_network_sent_bytes" where={where} />
        <Chart title="Disk, read" metric="instance_disk_read_bytes" where={where} />
        <Chart title="Disk, written" metric="instance_disk_written_bytes" where={where} />
        <Chart title="GPU use" metric="gpu_utilization_percent" where={where} />
        <Chart title="GPU memory" metric="gpu_memory_used_bytes" where={where} />
        <Chart title="GPU power" metric="gpu_power_mw" where={where} />
        <Chart title="GPU temperature" metric="gpu_temperature_celsius" where={where} />
      </SimpleGrid>
    </Section>
  );
}

function Events({ instance }: { instance: Instance }) {
  return (
    <Section title="Events">
      <EventList
        path="/v1/instances/{instance}/events"
        params={{ instance: instance.id }}
        query={{ tenantID: instance.tenantID, limit: 100 }}
        kinds={['instance', 'event']}
        empty={<Empty text="Nothing has happened to it yet." />}
      />
    </Section>
  );
}

function InstanceTabs({ instance, tab }: { instance: Instance; tab: string }) {
  const [, go] = useLocation();
  const mayEnter = usePermission('instance.enter', instance);
  const mayRead = usePermission('instance.logs', instance);
  const maySeeUse = usePermission('gpu.usage', instance);
  return (
    // Arrows only move over the tabs: a terminal that they open would take the focus, and them.
    <Tabs value={tab} onChange={(next) => go(instancePage(instance, next === 'overview' ? '' : (next ?? '')))} keepMounted={false} activateTabWithKeyboard={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        {mayEnter && <Tabs.Tab value="terminal">Terminal</Tabs.Tab>}
        {mayRead && <Tabs.Tab value="logs">Logs</Tabs.Tab>}
        {maySeeUse && <Tabs.Tab value="metrics">Metrics</Tabs.Tab>}
        <Tabs.Tab value="events">Events</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview"><InstanceOverview instance={instance} /></Tabs.Panel>
      <Tabs.Panel value="terminal">
        {!mayEnter && <NotPermitted permission="instance.enter" />}
        {mayEnter && (instance.state === 'running'
          ? <Terminal instance={instance.id} tenantID={instance.tenantID} since={instance.readyAt} />
          : <Empty text={`A terminal needs a running instance. This one is ${instance.state}.`} command={`hostler explain ${instance.instanceID}`} />)}
      </Tabs.Panel>
      <Tabs.Panel value="logs">
        {mayRead ? <Logs key={instance.readyAt} name={instance.id} path="/v1/instances/{instance}/logs" params={{ instance: instance.id }} query={{ tenantID: instance.tenantID }} /> : <NotPermitted permission="instance.logs" />}
      </Tabs.Panel>
      <Tabs.Panel value="metrics">{maySeeUse ? <Metrics instance={instance} /> : <NotPermitted permission="gpu.usage" />}</Tabs.Panel>
      <Tabs.Panel value="events"><Events instance={instance} /></Tabs.Panel>
    </Tabs>
  );
}

export default function InstancePage({ params }: PageProps) {
  const id = params.id ?? '';
  const [search] = useSearchParams();
  const query = useRead(
    '/v1/instances/{instance}',
    { params: { instance: id }, query: { tenantID: search.get('tenantID') ?? undefined } },
    { kinds: ['instance'] },
  );
  const instance = query.data;
  const badges = instance && <><InstanceState instance={instance} /><SimulatedBadge simulated={instance.simulated} /></>;
  const actions = instance && <><OpenButton instance={instance} /><ItemActions kind={instances} item={instance} /></>;
  return (
    <PageFrame title={instance?.instanceID ?? id} up={{ to: '/instances', label: 'Instances' }} badges={badges} actions={actions}>
      <AsyncView query={query}>{(it) => <InstanceTabs instance={it} tab={params.tab ?? 'overview'} />}</AsyncView>
    </PageFrame>
  );
}
