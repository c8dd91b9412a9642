// Jobs: columns and all that can be done to one.
import { Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { Bar } from '../../../parts/bars';
import { type Deed, resource } from '../../../parts/resource';
import { StateBadge } from '../../../parts/state_badge';
import { Ago, Lasting } from '../../../parts/values';
import { cancelText, durationWord, isOver, type Job, jobStates, progressParts, progressText, reasonText, tones } from './words';

/** Its state, and beside it why. */
export function JobState({ job }: { job: Pick<Job, 'state' | 'reason' | 'message' | 'held' | 'exitCode'> }) {
  const why = reasonText(job);
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" maw="100%">
      <StateBadge state={job.state} tone={tones[job.state]} reason={job.message} />
      {why && <Text component="span" fz="xs" c="dimmed" truncate title={job.message || undefined}>{why}</Text>}
    </Group>
  );
}

export function JobProgress({ job }: { job: Job }) {
  return (
    <div>
      <Bar label={`Elements of ${job.name}`} parts={progressParts(job)} of={job.elements} words={String} />
      <Text fz="xs" c="dimmed" className="number" truncate title={progressText(job)}>{progressText(job)}</Text>
    </div>
  );
}

/** Address of a page of the job: `jobPage(it, 'logs')`. */
export function jobPage(job: Pick<Job, 'id' | 'tenantID'>, tab = '', more: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams({ tenantID: job.tenantID });
  for (const [name, value] of Object.entries(more)) if (value !== undefined) query.set(name, String(value));
  return `/jobs/${encodeURIComponent(job.id)}${tab ? `/${tab}` : ''}?${query.toString()}`;
}

/** A job that is known by its id alone, as a link with its name. */
export function JobName({ id, tenantID }: { id: string; tenantID?: string }) {
  const permitted = usePermission('job.read');
  const { data } = useRead('/v1/jobs/{job}', { params: { job: id }, query: { tenantID } }, { kinds: ['job'], enabled: permitted });
  if (!permitted) return <>{id}</>;
  return <Link className="plain" href={data ? jobPage(data) : `/jobs/${encodeURIComponent(id)}`}>{data?.name ?? id}</Link>;
}

type JobDeed = Deed<Job>;

const common = {
  method: 'POST',
  params: (job: Job) => ({ job: job.id }),
  body: (job: Job) => ({ tenantID: job.tenantID }),
  permission: 'job.write',
} as const;

const hold: JobDeed = {
  ...common,
  label: 'Hold',
  path: '/v1/jobs/{job}/hold',
  command: 'job hold',
  plan: (job) => `No further part of ${job.name} begins until it is released. Running tasks stay.`,
  done: 'The job is held.',
  when: (job) => !job.held && !isOver(job),
};

const release: JobDeed = {
  ...common,
  label: 'Release',
  path: '/v1/jobs/{job}/release',
  command: 'job release',
  plan: (job) => `${job.name} begins when it is its turn and there is room.`,
  done: 'The job is released.',
  when: (job) => job.held && !isOver(job),
};

const change: JobDeed = {
  ...common,
  label: 'Change',
  method: 'PATCH',
  path: '/v1/jobs/{job}',
  command: 'job update',
  plan: () => 'The time limit counts from the start of each element.',
  fields: (job) => [
    { name: 'priority', label: 'Priority', kind: 'number', initial: job.priority, help: 'Among the jobs of the same user; more is first.' },
    { name: 'timeLimitSeconds', label: 'Time limit', kind: 'duration', initial: durationWord(job.timeLimitSeconds), help: '0: none.' },
  ],
  done: 'The job is changed.',
  when: (job) => !isOver(job),
};

const cancel: JobDeed = {
  ...common,
  label: 'Cancel job',
  path: '/v1/jobs/{job}/cancel',
  command: 'job cancel',
  plan: cancelText,
  confirmName: (job) => job.name,
  done: 'The job is cancelled.',
  when: (job) => !isOver(job),
  danger: true,
  dismiss: 'Keep it',
};

export const jobs = resource('/v1/jobs', {
  noun: 'job',
  title: 'Jobs',
  page: '/jobs',
  kinds: ['job'],
  permission: 'job.read',
  id: (job) => job.id,
  name: (job) => job.name,
  place: ({ tenantID, project }) => ({ tenantID, project }),
  columns: [
    { key: 'name', title: 'Name', value: (job) => job.name },
    { key: 'state', title: 'State', value: (job) => `${job.state} ${reasonText(job)}`.trim(), cell: (job) => <JobState job={job} />, width: '186px' },
    { key: 'position', title: 'Before it', value: (job) => (job as Job & { position?: number }).position, width: '84px', align: 'right', wideOnly: true },
    { key: 'progress', title: 'Progress', value: (job) => job.succeeded / job.elements, cell: (job) => <JobProgress job={job} />, width: '160px' },
    { key: 'tasks', title: 'Tasks', value: (job) => `${job.tasks} × ${job.specName}`, width: '116px' },
    { key: 'priority', title: 'Priority', value: (job) => job.priority, width: '84px', align: 'right', wideOnly: true },
    { key: 'project', title: 'Project', value: (job) => job.project, width: '90px', wideOnly: true },
    { key: 'created', title: 'Submitted', value: (job) => job.createdAt, cell: (job) => <Ago time={job.createdAt} />, width: '104px' },
    { key: 'lasts', title: 'Runs for', value: (job) => job.startedAt, cell: (job) => <Lasting from={job.startedAt} to={job.endedAt} />, width: '90px' },
    { key: 'tenant', title: 'Tenant', value: (job) => job.tenantID, width: '110px', wideOnly: true },
  ],
  filters: [
    { name: 'state', label: 'State', values: jobStates },
    { name: 'project', label: 'Project' },
  ],
  query: { order: '-created' },
  queryExample: 'priority>5',
  empty: {
    text: 'A job is a program that waits for its turn and for room, runs to its end, and is tried again where a host is lost. It can have many tasks.',
    command: "hostler job submit train --image docker.io/pytorch/pytorch:2.9 --spec h100-1 --cmd 'python train.py'",
  },
  actions: [hold, release, change, cancel],
  rowActions: ['Hold', 'Release', 'Cancel job'],
  actionsWidth: '190px',
  detail: { path: '/v1/jobs/{job}', param: 'job', facts: () => [], badges: (job) => <JobState job={job} /> },
});
