// Logs of one task of a job, by rank, index and attempt.
import { Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Logs } from '../../../parts/logs';
import { Empty } from '../../../parts/states';
import { useTypedWord, useUrlWord } from '../../../parts/url_state';
import { attemptsOf, type Job } from './words';

// Of the running tasks, and of those that are over.
const listedMax = 64;

function NumberWord({ name, label, max, placeholder }: { name: string; label: string; max?: number; placeholder: string }) {
  const [typed, type] = useTypedWord(name);
  return <NumberInput label={label} placeholder={placeholder} value={typed} onChange={(value) => type(String(value))} min={0} max={max} allowDecimal={false} allowNegative={false} w={120} />;
}

const numberOf = (word: string): number | undefined => (/^\d+$/.test(word) ? Number(word) : undefined);

function useWanted() {
  const [index] = useUrlWord('index');
  const [rank] = useUrlWord('rank');
  const [attempt, setAttempt] = useUrlWord('attempt');
  return { wanted: { index: numberOf(index), rank: numberOf(rank) ?? 0, attempt: numberOf(attempt) }, setAttempt };
}

export function JobLogs({ job }: { job: Job }) {
  const { wanted, setAttempt } = useWanted();
  const attempts = attemptsOf(job, { ...wanted, attempt: undefined });
  const [found] = attemptsOf(job, wanted);
  const known = [...new Set([...attempts.map(({ attempt }) => attempt), ...(wanted.attempt === undefined ? [] : [wanted.attempt])])];
  const listsAll = job.running.length < listedMax && job.ends.length < listedMax;
  const hasRanks = job.tasks > 1 && (job.gang || !job.array);
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        {job.array && <NumberWord name="index" label="Index" placeholder="any" />}
        {hasRanks && <NumberWord name="rank" label="Rank" max={job.tasks - 1} placeholder="0" />}
        {known.length > 1 && (
          <Select label="Attempt" placeholder="last" data={known.map(String)} value={wanted.attempt === undefined ? null : String(wanted.attempt)} onChange={(value) => setAttempt(value ?? '')} clearable w={120} />
        )}
        {found && (
          <Text fz="sm" c="dimmed" pb={8}>
            Attempt {found.attempt}, instance <Link className="plain" href={`/instances/${encodeURIComponent(found.instance)}?tenantID=${encodeURIComponent(job.tenantID)}`}>{found.instance}</Link>
          </Text>
        )}
      </Group>
      {!found && listsAll
        ? <Empty text="No such task has begun." command={`hostler job explain ${job.id}`} />
        : <Logs key={found?.instance} name={`${job.name}-${found?.instance ?? 'task'}`} path="/v1/jobs/{job}/logs" params={{ job: job.id }} query={{ tenantID: job.tenantID, ...wanted }} />}
    </Stack>
  );
}
