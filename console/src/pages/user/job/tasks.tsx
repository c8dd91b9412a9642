// Tasks of a job: those that have a place, of a gang by element, and attempts that are over.
import { Stack, Table, Text } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { Section } from '../../../parts/page_frame';
import { StateBadge } from '../../../parts/state_badge';
import { Ago, Lasting, Unknown } from '../../../parts/values';
import { jobPage } from './kind';
import { endsByTime, isOver, type Job, type JobEnd, type JobTask, taskGroups, tasksActive } from './words';

function Head({ names }: { names: string[] }) {
  return <Table.Thead><Table.Tr>{names.map((name) => <Table.Th key={name}>{name}</Table.Th>)}</Table.Tr></Table.Thead>;
}

function InstanceLink({ job, id }: { job: Job; id: string }) {
  return <Link className="plain" href={`/instances/${encodeURIComponent(id)}?tenantID=${encodeURIComponent(job.tenantID)}`}>{id}</Link>;
}

function LogsLink({ job, of }: { job: Job; of: { index?: number; rank: number; attempt: number } }) {
  const mayRead = usePermission('instance.logs', job);
  const { index, rank, attempt } = of;
  return mayRead ? <Link className="plain" href={jobPage(job, 'logs', { index, rank, attempt })}>Logs</Link> : null;
}

function TaskRow({ job, task }: { job: Job; task: JobTask }) {
  return (
    <Table.Tr>
      <Table.Td className="number">{task.rank}</Table.Td>
      {job.array && <Table.Td className="number">{task.index ?? <Unknown />}</Table.Td>}
      <Table.Td className="number">{task.attempt}</Table.Td>
      <Table.Td><StateBadge state={task.state} tone={task.state === 'ready' ? 'busy' : undefined} /></Table.Td>
      <Table.Td>{task.zone ?? <Unknown />}</Table.Td>
      <Table.Td><InstanceLink job={job} id={task.instance} /></Table.Td>
      <Table.Td><LogsLink job={job} of={task} /></Table.Td>
    </Table.Tr>
  );
}

function Running({ job }: { job: Job }) {
  const names = ['Rank', ...(job.array ? ['Index'] : []), 'Attempt', 'State', 'Zone', 'Instance', 'Output'];
  const more = tasksActive(job) > job.running.length;
  const none = isOver(job) ? 'It is over: no task runs.' : 'No task has a place yet. The overview says why.';
  return (
    <Section title="Running tasks" actions={more && job.running.length > 0 && <Text fz="sm" c="dimmed">the first {job.running.length} of {tasksActive(job)}</Text>}>
      {job.running.length === 0 ? <Text c="dimmed">{none}</Text> : (
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label="Running tasks">
            <Head names={names} />
            {taskGroups(job).map(({ key, title, tasks }) => (
              <Table.Tbody key={key}>
                {title && <Table.Tr><Table.Th colSpan={names.length} scope="rowgroup">{title}: {tasks.length} of {job.tasks} ranks</Table.Th></Table.Tr>}
                {tasks.map((task) => <TaskRow key={task.instance} job={job} task={task} />)}
              </Table.Tbody>
            ))}
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

function EndRow({ job, end }: { job: Job; end: JobEnd }) {
  return (
    <Table.Tr>
      <Table.Td className="number">{job.gang ? 'all' : end.rank}</Table.Td>
      {job.array && <Table.Td className="number">{end.index ?? <Unknown />}</Table.Td>}
      <Table.Td className="number">{end.attempt}</Table.Td>
      <Table.Td><StateBadge state={end.reason} tone={end.reason === 'completed' ? 'ok' : end.reason === 'cancelled' ? 'off' : 'bad'} /></Table.Td>
      <Table.Td className="number">{end.exitCode ?? <Unknown />}</Table.Td>
      <Table.Td><Lasting from={end.startedAt} to={end.endedAt} /></Table.Td>
      <Table.Td><Ago time={end.endedAt} /></Table.Td>
      <Table.Td>{end.instances.slice(0, 4).map((id, rank) => <Fragment key={id}>{rank > 0 && ', '}<InstanceLink job={job} id={id} /></Fragment>)}{end.instances.length > 4 && ` and ${end.instances.length - 4} more`}</Table.Td>
      <Table.Td><LogsLink job={job} of={end} /></Table.Td>
    </Table.Tr>
  );
}

function Ended({ job }: { job: Job }) {
  const names = ['Rank', ...(job.array ? ['Index'] : []), 'Attempt', 'Reason', 'Exit code', 'Ran for', 'Ended', 'Instances', 'Output'];
  return (
    <Section title="Attempts that are over" actions={job.ends.length >= 64 && <Text fz="sm" c="dimmed">the newest {job.ends.length}</Text>}>
      {job.ends.length === 0 ? <Text c="dimmed">No attempt is over.</Text> : (
        <Table.ScrollContainer minWidth={760}>
          <Table aria-label="Attempts that are over">
            <Head names={names} />
            <Table.Tbody>{endsByTime(job.ends).map((end) => <EndRow key={`${end.index} ${end.rank} ${end.attempt}`} job={job} end={end} />)}</Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

export function JobTasks({ job }: { job: Job }) {
  return <Stack><Running job={job} /><Ended job={job} /></Stack>;
}
