// The fleet: a cell for each GPU, by zone and host.
import { Group, SegmentedControl, Select, Stack, Text, useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { usePermission, useWhoami } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { PageFrame, Section } from '../../../parts/page_frame';
import { SimulatedBadge } from '../../../parts/state_badge';
import { AsyncView, Empty } from '../../../parts/states';
import { useUrlWord } from '../../../parts/url_state';
import { clockText, countText } from '../../../parts/words';
import { Attention } from './attention';
import { countsOf, type FleetData, zonesOf } from './fleet_data';
import { FleetTable } from './fleet_table';
import { cellSize } from './layout';
import { Legend } from './legend';
import { useOpen } from './open_gpu';
import { type Colouring, colourings, keyOf } from './shades';
import './style.css';
import { useFleet } from './use_fleet';
import { ZoneMap } from './zone_map';

function Count({ label, value, to, bad }: { label: string; value: number; to: string; bad?: boolean }) {
  return (
    <Link href={to} className="count" data-bad={bad && value > 0 ? true : undefined}>
      <span className="number">{value.toLocaleString('en')}</span>
      <span>{label}</span>
    </Link>
  );
}

/** States with a count of their own; those of the second line only where there are some. */
const gpuStates = [['faulty', 'degraded'], ['unresponsive', 'gone']] as const;
const hostStates = [['unreachable', 'draining'], ['joining', 'unmeasured', 'cordoned', 'drained', 'lost', 'faulty', 'quarantined', 'refused']] as const;
const calm = new Set(['draining', 'drained', 'joining', 'unmeasured', 'cordoned']);

/** Each count is that of the list behind it. */
function Counts({ data, zone }: { data: FleetData; zone: string }) {
  const counts = useMemo(() => countsOf(data), [data]);
  const link = (page: string, state = '') => {
    const words = new URLSearchParams(Object.entries({ state, zone }).filter(([, word]) => word !== ''));
    return `${page}?${words}`.replace(/\?$/, '');
  };
  const ofStates = (of: Map<string, number>, page: string, [always, some]: readonly (readonly string[])[], noun: string) =>
    [...(always ?? []), ...(some ?? []).filter((state) => of.has(state))].map((state) => (
      <Count key={page + state} label={`${state}${noun}`} value={of.get(state) ?? 0} to={link(page, state)} bad={!calm.has(state)} />
    ));
  return (
    <div className="counts">
      <Count label="GPUs" value={counts.gpus} to={link('/gpus')} />
      <Count label="hosts" value={counts.hosts} to={link('/hosts')} />
      {ofStates(counts.gpuStates, '/gpus', gpuStates, ' GPUs')}
      {ofStates(counts.hostStates, '/hosts', hostStates, ' hosts')}
    </div>
  );
}

function useColourings(): Colouring[] {
  const tenants = usePermission('tenant.read');
  const cloud = useWhoami()?.isOperator ?? false;
  return colourings.filter((one) => one !== 'tenant' || (tenants && cloud));
}

function Choices({ colouring, onColouring, view, onView }: Record<'colouring' | 'view', string> & Record<'onColouring' | 'onView', (word: string) => void>) {
  const [zone, setZone] = useUrlWord('zone');
  const zones = useRead('/v1/zones', { query: { limit: 200 } }, { kinds: ['zone'] });
  const known = useColourings();
  return (
    <Group gap="sm" align="end">
      <Select label="Colour by" w={150} data={known} value={colouring} onChange={(word) => onColouring(word ?? 'use')} allowDeselect={false} />
      <Select label="Zone" w={150} placeholder="all" clearable data={(zones.data?.items ?? []).map(({ name }) => name)} value={zone || null} onChange={(word) => setZone(word ?? '')} />
      <SegmentedControl aria-label="Show as" value={view} onChange={onView} data={[{ value: 'map', label: 'Map' }, { value: 'table', label: 'As table' }]} />
    </Group>
  );
}

function Maps({ data, colouring }: { data: FleetData; colouring: Colouring }) {
  const dark = useComputedColorScheme() === 'dark';
  const zones = useMemo(() => zonesOf(data), [data]);
  const keys = useMemo(() => keyOf(data, colouring), [data, colouring]);
  const { openHost, openGpu } = useOpen();
  const gpus = zones.reduce((sum, { hosts }) => sum + hosts.reduce((own, host) => own + host.gpus, 0), 0);
  return (
    <Stack gap="md">
      <Legend shades={keys.shades} dark={dark} flags={colouring !== 'state'} />
      {zones.map(({ zone, hosts }) => (
        <Section key={zone} title={zone || 'no zone'} actions={<Text fz="sm" c="dimmed">{countText(hosts.length, 'host')}</Text>}>
          <ZoneMap zone={zone} hosts={hosts} data={data} colouring={colouring} keys={keys} cell={cellSize(gpus)} dark={dark} onHost={openHost} onGpu={openGpu} />
        </Section>
      ))}
    </Stack>
  );
}

function Content({ data, colouring, view, zone }: { data: FleetData; colouring: Colouring; view: string; zone: string }) {
  const { openGpu } = useOpen();
  if (view === 'table') return <FleetTable data={data} colouring={colouring} zone={zone} onGpu={openGpu} />;
  return <Maps data={data} colouring={colouring} />;
}

export default function FleetPage() {
  const [word, setColouring] = useUrlWord('colour', 'use');
  const [view, setView] = useUrlWord('view', 'map');
  const [zone] = useUrlWord('zone');
  const colouring = colourings.find((one) => one === word) ?? 'use';
  const query = useFleet(colouring, zone);
  const simulated = useWhoami()?.simulated;
  return (
    <PageFrame title="Fleet" badges={<SimulatedBadge simulated={simulated ?? false} />} lead="A cell for each GPU. Move over it or use the arrow keys to see it; click or Enter opens it.">
      <AsyncView
        query={query}
        lines={8}
        isEmpty={(data) => data.hosts.size === 0 && zone === ''}
        empty={<Empty text="Hosts with GPUs appear here when they have joined." command="hostler host token create --zone nj" />}
      >
        {(data) => (
          <Stack>
            <Counts data={data} zone={zone} />
            <Attention zone={zone} />
            <Group justify="space-between" align="end">
              <Choices colouring={colouring} onColouring={setColouring} view={view} onView={setView} />
              <Text fz="sm" c="dimmed">as of {clockText(Date.parse(data.at))}</Text>
            </Group>
            <Content data={data} colouring={colouring} view={view} zone={zone} />
          </Stack>
        )}
      </AsyncView>
    </PageFrame>
  );
}
