// Home: what runs, what needs the reader, what it costs; each thing is one click away.
import { Button, Group, Progress, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Action } from '../../parts/action';
import { fractionUsed } from '../../parts/amounts';
import { Figure } from '../../parts/figure';
import { PageFrame, Section } from '../../parts/page_frame';
import { AsyncView, Empty } from '../../parts/states';
import { StateBadge } from '../../parts/state_badge';
import { Ago, Money, Unknown } from '../../parts/values';
import { OwnHosts } from '../provider/own_hosts';
import { JobState, jobPage } from './job/kind';
import { InstanceLinks, instancePage, instances, InstanceState, keep, stop } from './instance_kind';
import { quotaName } from './quota_words';
import { TemplateButtons } from './template_buttons';

const countOf = (counts: { state: string; count: number }[] | undefined, ...states: string[]) =>
  counts?.filter(({ state }) => states.includes(state)).reduce((sum, { count }) => sum + count, 0);

const sumOf = <Row,>(rows: Row[] | undefined, count: (row: Row) => number) => rows?.reduce((sum, row) => sum + count(row), 0);

function InstanceFigures({ overview: { instances: counts, costs = [] } }: { overview: Schemas['Overview'] }) {
  const maySeePrices = usePermission('price.read');
  return (
    <>
      <Figure name="Running" to="/instances?state=running">{countOf(counts, 'running') ?? <Unknown />}</Figure>
      <Figure name="Starting" to="/instances?state=ready">{countOf(counts, 'init', 'ready') ?? <Unknown />}</Figure>
      {maySeePrices && (
        <Figure name="Costs now">
          {costs.length === 0 ? <Unknown /> : costs.map((cost) => <div key={cost.currency}><Money amount={cost.perHour} currency={cost.currency} per="h" /></div>)}
        </Figure>
      )}
    </>
  );
}

function JobFigures({ overview: { jobs: counts } }: { overview: Schemas['Overview'] }) {
  return (
    <>
      <Figure name="Jobs running" to="/jobs?query=active%3E0">{countOf(counts, 'admitted', 'starting', 'running', 'preempting') ?? <Unknown />}</Figure>
      <Figure name="Jobs waiting" to="/jobs?state=pending">{countOf(counts, 'pending') ?? <Unknown />}</Figure>
    </>
  );
}

function HostFigures({ overview: { hosts, gpus } }: { overview: Schemas['Overview'] }) {
  const all = sumOf(hosts, ({ count }) => count);
  return (
    <>
      <Figure name="Hosts ready" to="/hosts?state=ready" note={all === undefined ? undefined : `of ${all}`}>{countOf(hosts, 'ready') ?? <Unknown />}</Figure>
      <Figure name="GPUs held" to="/fleet" note={gpus && `of ${sumOf(gpus, ({ total }) => total)}`}>{sumOf(gpus, ({ claimed }) => claimed) ?? <Unknown />}</Figure>
      <Figure name="GPUs out of service" to="/fleet">{sumOf(gpus, ({ outOfService }) => outOfService) ?? <Unknown />}</Figure>
    </>
  );
}

/** Those that the reader may see: of instances, jobs, alerts and hosts. */
function Figures({ overview }: { overview: Schemas['Overview'] }) {
  const maySeeInstances = usePermission('instance.read');
  const maySeeJobs = usePermission('job.read');
  const maySeeAlerts = usePermission('alert.read');
  const maySeeHosts = usePermission('host.read');
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: maySeeHosts && maySeeInstances ? 5 : 3, xl: maySeeHosts && maySeeInstances ? 9 : 6 }}>
      {maySeeInstances && <InstanceFigures overview={overview} />}
      {maySeeJobs && <JobFigures overview={overview} />}
      {maySeeAlerts && <Figure name="Firing alerts" to="/alerts">{sumOf(overview.alerts, ({ count }) => count) ?? <Unknown />}</Figure>}
      {maySeeHosts && <HostFigures overview={overview} />}
    </SimpleGrid>
  );
}

function Need({ badge, name, link, text, children }: { badge: ReactNode; name: string; link: string; text: ReactNode; children?: ReactNode }) {
  return (
    <div className="need">
      <div style={{ flex: '1 1 280px' }}>
        <Group gap="xs"><Link href={link} className="plain">{name}</Link>{badge}</Group>
        <Text fz="sm">{text}</Text>
      </div>
      <Group gap="sm">{children}</Group>
    </div>
  );
}

const stopWords: Record<string, string> = { max_run: 'its longest run ends' };

/** Keeps an instance that stops soon; the whole instance is read for the action. */
function KeepButton({ id, tenantID }: { id: string; tenantID: string }) {
  const query = useRead('/v1/instances/{instance}', { params: { instance: id }, query: { tenantID } }, { kinds: ['instance'] });
  return query.data ? <Action deed={keep} item={query.data} kinds={instances.kinds} place={instances.place} /> : null;
}

function Needs({ overview }: { overview: Schemas['Overview'] }) {
  const { waiting = [], stopping = [] } = overview;
  if (waiting.length + stopping.length === 0) return null;
  return (
    <Section title="Needs you">
      {waiting.map((one) => (
        <Need key={one.id} name={one.name} link={instancePage(one)} badge={<StateBadge state={one.state} tone={one.state === 'ready' ? 'busy' : undefined} />} text={one.sentence}>
          <Button component={Link} href={instancePage(one)} size="xs" variant="default">Why</Button>
        </Need>
      ))}
      {stopping.map((one) => (
        <Need key={one.id} name={one.name} link={instancePage(one)} badge={<StateBadge state="stopping" tone="warn" />} text={<>It stops <Ago time={one.at} />: {stopWords[one.why] ?? one.why.replaceAll('_', ' ')}.</>}>
          <KeepButton id={one.id} tenantID={one.tenantID} />
        </Need>
      ))}
    </Section>
  );
}

/** Jobs that wait for their turn or for room, and why. */
function WaitingJobs() {
  const { data } = useRead('/v1/jobs', { query: { state: 'pending', limit: 5 } }, { kinds: ['job'] });
  if (!data?.items.length) return null;
  return (
    <Section title="Jobs that wait" actions={<Link href="/jobs?state=pending" className="plain">All</Link>}>
      {data.items.map((job) => (
        <Need key={job.id} name={job.name} link={jobPage(job)} badge={<JobState job={job} />} text={job.message}>
          <Button component={Link} href={jobPage(job)} size="xs" variant="default">Why</Button>
        </Need>
      ))}
    </Section>
  );
}

function Recent() {
  const query = useRead('/v1/instances', { query: { limit: 8 } }, { kinds: ['instance'] });
  return (
    <Section title="Instances" actions={<Link href="/instances" className="plain">All</Link>}>
      <AsyncView
        query={query}
        isEmpty={(list) => list.items.length === 0}
        empty={<Empty text="Nothing runs yet. Choose a template above, or start an image." command="hostler instance create notebook-1 --spec h100-1 --template jupyter --wait" />}
      >
        {(list) => (
          <div>
            {list.items.map((instance) => (
              <div className="need" key={instance.id} style={{ alignItems: 'center' }}>
                <Group gap="sm" style={{ flex: '1 1 220px' }}>
                  <Link href={instancePage(instance)} className="plain">{instance.instanceID}</Link>
                  <InstanceState instance={instance} />
                  <Text fz="sm" c="dimmed">{[instance.specName, instance.zone].filter(Boolean).join(' · ')}</Text>
                </Group>
                <Group gap="md" className="links">
                  <InstanceLinks instance={instance} />
                  <Action deed={stop} item={instance} kinds={instances.kinds} place={instances.place} />
                </Group>
              </div>
            ))}
          </div>
        )}
      </AsyncView>
    </Section>
  );
}

function Quotas({ quotas }: { quotas: NonNullable<Schemas['Overview']['quotas']> }) {
  if (quotas.length === 0) return null;
  return (
    <Section title="Quota">
      <Stack gap="sm">
        {quotas.map((quota) => {
          const used = fractionUsed(quota);
          return (
            <div key={quotaName(quota)}>
              <Group justify="space-between"><Text fz="sm">{quotaName(quota)}</Text><Text fz="sm" className="number">{quota.used} of {quota.limit}</Text></Group>
              {used !== undefined && <Progress value={used * 100} color={used > 0.9 ? 'orange' : undefined} aria-label={`${quotaName(quota)}: used`} />}
            </div>
          );
        })}
      </Stack>
    </Section>
  );
}

function Gpus({ gpus }: { gpus: Schemas['OverviewGpus'][] }) {
  return (
    <Section title="GPUs" actions={<Link href="/fleet" className="plain">Fleet</Link>}>
      <Table.ScrollContainer minWidth={460}>
        <Table>
          <Table.Thead><Table.Tr>{['Model', 'Zone', 'Total', 'Free', 'Held', 'Stock', 'Foreign', 'Out of service'].map((name) => <Table.Th key={name}>{name}</Table.Th>)}</Table.Tr></Table.Thead>
          <Table.Tbody>
            {gpus.map((row) => (
              <Table.Tr key={row.zone + row.model}>
                {[row.model, row.zone, row.total, row.free, row.claimed, row.stock, row.foreign, row.outOfService].map((cell, index) => <Table.Td key={index} className={index > 1 ? 'number' : undefined}>{cell}</Table.Td>)}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

export default function HomePage() {
  const query = useRead('/v1/overview', {}, { kinds: ['instance', 'job', 'host', 'gpu', 'alert', 'quota', 'stock'], every: 60_000 });
  const mayStart = usePermission('instance.write');
  const maySee = usePermission('instance.read');
  const maySeeHosts = usePermission('host.read');
  const maySeeJobs = usePermission('job.read');
  return (
    <PageFrame title="Home">
      {mayStart && <TemplateButtons />}
      <AsyncView query={query}>{(overview) => <Stack><Figures overview={overview} /><Needs overview={overview} /></Stack>}</AsyncView>
      {maySeeJobs && <WaitingJobs />}
      {maySee ? <Recent /> : maySeeHosts && <OwnHosts />}
      {query.data?.quotas && <Quotas quotas={query.data.quotas} />}
      {query.data?.gpus && query.data.gpus.length > 0 && <Gpus gpus={query.data.gpus} />}
    </PageFrame>
  );
}
