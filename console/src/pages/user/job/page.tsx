// One job: how far it is and why it waits, its tasks, logs and events.
import { Button, Tabs } from '@mantine/core';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { PageProps } from '../../../app/pages';
import { usePermission } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { EventList } from '../../../parts/event_list';
import { PageFrame, Section } from '../../../parts/page_frame';
import { ItemActions } from '../../../parts/resource_pages';
import { AsyncView, Empty, NotPermitted } from '../../../parts/states';
import { jobPage, jobs, JobState } from './kind';
import { JobLogs } from './logs';
import { JobOverview } from './overview';
import { JobTasks } from './tasks';
import type { Job } from './words';

function SubmitAgain({ job }: { job: Job }) {
  const permitted = usePermission('job.write', job);
  const query = new URLSearchParams({ from: job.id, tenantID: job.tenantID });
  return permitted ? <Button component={Link} href={`/jobs/new?${query.toString()}`} variant="default" size="xs">Submit again</Button> : null;
}

function Events({ job }: { job: Job }) {
  return (
    <Section title="Events">
      <EventList
        path="/v1/jobs/{job}/events"
        params={{ job: job.id }}
        query={{ tenantID: job.tenantID, limit: 100 }}
        kinds={['job', 'event']}
        empty={<Empty text="Nothing has happened to it yet." />}
      />
    </Section>
  );
}

const tabs = ['overview', 'tasks', 'logs', 'events'];

function JobTabs({ job, tab }: { job: Job; tab: string }) {
  const [, go] = useLocation();
  const mayRead = usePermission('instance.logs', job);
  return (
    <Tabs value={tabs.includes(tab) ? tab : 'overview'} onChange={(next) => go(jobPage(job, next === 'overview' ? '' : (next ?? '')))} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="tasks">Tasks</Tabs.Tab>
        {mayRead && <Tabs.Tab value="logs">Logs</Tabs.Tab>}
        <Tabs.Tab value="events">Events</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview"><JobOverview job={job} /></Tabs.Panel>
      <Tabs.Panel value="tasks"><JobTasks job={job} /></Tabs.Panel>
      <Tabs.Panel value="logs">{mayRead ? <JobLogs job={job} /> : <NotPermitted permission="instance.logs" />}</Tabs.Panel>
      <Tabs.Panel value="events"><Events job={job} /></Tabs.Panel>
    </Tabs>
  );
}

export default function JobPage({ params }: PageProps) {
  const id = params.id ?? '';
  const [search] = useSearchParams();
  const query = useRead('/v1/jobs/{job}', { params: { job: id }, query: { tenantID: search.get('tenantID') ?? undefined } }, { kinds: ['job', 'instance'] });
  const job = query.data;
  const actions = job && <><ItemActions kind={jobs} item={job} /><SubmitAgain job={job} /></>;
  return (
    <PageFrame title={job?.name ?? id} up={{ to: '/jobs', label: 'Jobs' }} badges={job && <JobState job={job} />} actions={actions}>
      <AsyncView query={query}>{(it) => <JobTabs job={it} tab={params.tab ?? 'overview'} />}</AsyncView>
    </PageFrame>
  );
}
