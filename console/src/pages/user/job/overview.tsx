// Overview of a job: why it is as it is, how far it is, what it is made of.
import { Code, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { Bar, Legend } from '../../../parts/bars';
import { ExplanationView } from '../../../parts/explanation';
import { Section } from '../../../parts/page_frame';
import { AsyncView } from '../../../parts/states';
import { Timeline } from '../../../parts/timeline';
import { Ago, Facts, Id, Lasting, Unknown } from '../../../parts/values';
import { countText, durationText } from '../../../parts/words';
import { JobName, jobPage } from './kind';
import { isOver, type Job, progressParts, type Turn } from './words';

function TurnFacts({ turn }: { turn: Turn }) {
  if (turn.position === undefined) return null;
  const shares = turn.shares ?? [];
  const percent = (milli: number) => `${Math.round(milli / 10)} %`;
  return (
    <Facts
      facts={[
        { name: 'Before it', value: countText(turn.position, 'element') },
        { name: 'Expected start', value: turn.expectedStart ? <Ago time={turn.expectedStart} /> : <Unknown /> },
        ...shares.map(({ queue, shareMilli, entitledMilli }) => ({ name: queue, value: `has ${percent(shareMilli)} of the cloud, entitled to ${percent(entitledMilli)}` })),
      ]}
    />
  );
}

// Its position moves with the jobs before it, of which nothing tells.
const askAgain = 5000;

function Why({ job }: { job: Job }) {
  const maySeeQueues = usePermission('queue.read', job);
  const query = useRead(
    '/v1/jobs/{job}/explain',
    { params: { job: job.id }, query: { tenantID: job.tenantID } },
    { kinds: ['job'], every: isOver(job) || job.waiting === 0 ? undefined : askAgain },
  );
  return (
    <Section title="Why" actions={maySeeQueues && !isOver(job) && <Link href="/queues" className="plain">Queues</Link>}>
      <AsyncView query={query} lines={2}>{(why) => <Stack gap="xs"><ExplanationView why={why} /><TurnFacts turn={why} /></Stack>}</AsyncView>
    </Section>
  );
}

function Progress({ job }: { job: Job }) {
  const parts = progressParts(job);
  return (
    <Section title="Progress">
      <Stack gap="xs">
        <Bar label={`Elements of ${job.name}`} parts={parts} of={job.elements} words={String} />
        <Text fz="sm">{countText(job.elements, 'element')}: {parts.map(({ label, value }) => `${value} ${label}`).join(', ')}</Text>
        <Legend parts={parts} />
      </Stack>
    </Section>
  );
}

function tasksText({ tasks, gang, array }: Job): string {
  const each = array ? ' for each index' : '';
  return `${tasks}${each}${gang ? ', together as a gang' : ''}`;
}

function JobFacts({ job }: { job: Job }) {
  const labels = Object.entries(job.labels).map(([name, value]) => `${name}=${value}`);
  return (
    <Facts
      facts={[
        { name: 'Id', value: <Id value={job.id} /> },
        { name: 'Image', value: job.image },
        { name: 'Command', value: job.cmd && <Code className="breakable">{job.cmd}</Code> },
        { name: 'Spec', value: job.specName },
        { name: 'Tasks', value: tasksText(job) },
        { name: 'Array', value: job.array },
        { name: 'Time limit', value: job.timeLimitSeconds === 0 ? 'none' : durationText(job.timeLimitSeconds) },
        { name: 'Retries', value: job.retries },
        { name: 'Priority', value: job.priority },
        { name: 'After', value: job.after.length > 0 ? job.after.map(({ job: id, when }) => <div key={id}><JobName id={id} tenantID={job.tenantID} /> {when}</div>) : undefined },
        { name: 'Exit code', value: job.exitCode },
        { name: 'Tenant, project', value: [job.tenantID, job.project].filter(Boolean).join(', ') },
        { name: 'Labels', value: labels.join(', ') },
        { name: 'Submitted', value: <><Ago time={job.createdAt} /> {job.createdBy && `by ${job.createdBy}`}</> },
        { name: 'Began', value: job.startedAt && <Ago time={job.startedAt} /> },
        { name: 'Ended', value: job.endedAt && <Ago time={job.endedAt} /> },
        { name: 'Runs for', value: <Lasting from={job.startedAt} to={job.endedAt} /> },
      ]}
    />
  );
}

/** Where its output and what it writes are. */
function Results({ job }: { job: Job }) {
  const mayReadLogs = usePermission('instance.logs', job);
  const mayReadVolumes = usePermission('volume.read', job);
  const volumes = (job.submission?.volumes ?? []).filter(({ name }) => name);
  return (
    <Section title="Output and results" actions={mayReadLogs && <Link href={jobPage(job, 'logs')} className="plain">Logs</Link>}>
      <Stack gap="xs">
        <Text fz="sm">
          Each task has a log of its own, by rank, index and attempt.
          {' '}{volumes.length > 0 ? 'Files stay in these volumes; files elsewhere are lost when a task ends.' : 'It has no volume: files that its tasks write are lost when they end.'}
        </Text>
        {volumes.map(({ name, mountPath, readOnly }) => (
          <Text fz="sm" key={mountPath}>
            {mayReadVolumes ? <Link className="plain" href={`/volumes/${encodeURIComponent(name)}?tenantID=${encodeURIComponent(job.tenantID)}`}>{name}</Link> : name}
            {' '}at <Code className="breakable">{mountPath}</Code>{readOnly && ', read-only'}
          </Text>
        ))}
      </Stack>
    </Section>
  );
}

function LastEvents({ job }: { job: Job }) {
  const query = useRead(
    '/v1/jobs/{job}/events',
    { params: { job: job.id }, query: { tenantID: job.tenantID, limit: 8 } },
    { kinds: ['job', 'event'] },
  );
  return <Section title="How it came here"><AsyncView query={query}>{(list) => <Timeline events={list.items} />}</AsyncView></Section>;
}

export function JobOverview({ job }: { job: Job }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack><Why job={job} /><Progress job={job} /><LastEvents job={job} /></Stack>
      <Stack><Results job={job} /><Section title="Facts"><JobFacts job={job} /></Section></Stack>
    </SimpleGrid>
  );
}
