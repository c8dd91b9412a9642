// Jobs as words: why one waits, how far it is, what its end takes with it, and which tasks belong together.
import type { Schemas } from '../../../api/client';
import type { BarPart } from '../../../parts/bars';
import type { Tone } from '../../../parts/state_badge';
import { countText } from '../../../parts/words';

export type Job = Schemas['Job'];
export type JobTask = Schemas['JobTask'];
export type JobEnd = Schemas['JobEndShown'];

export const jobStates = ['pending', 'admitted', 'starting', 'running', 'preempting', 'succeeded', 'failed', 'cancelled'] as const;

export const tones: Record<Job['state'], Tone> = {
  pending: 'busy', admitted: 'busy', starting: 'busy', running: 'ok', preempting: 'warn', succeeded: 'ok', failed: 'bad', cancelled: 'off',
};

export const isOver = ({ state }: Pick<Job, 'state'>): boolean => ['succeeded', 'failed', 'cancelled'].includes(state);

/** Its place among those that wait, as the API explains it. */
export interface Turn {
  sentence: string;
  position?: number;
  expectedStart?: string;
  shares?: { queue: string; shareMilli: number; entitledMilli: number }[];
}

/** What a submission would do: the answer of a dry run. */
export type Planned = Omit<Job, 'plan'> & {
  plan?: { sentence: string; startsNow: boolean; expectedStart?: string; victims: unknown[] };
};

const reasonWords: Record<string, string> = {
  submitted: 'waits its turn', waits: 'waits its turn', insufficient_capacity: 'no room', quota_exceeded: 'quota is used', queue_limit: 'queue is full', waits_for_job: 'waits for a job',
  dependency_failed: 'a job before it failed', time_limit: 'time limit', host_lost: 'host lost', preempted: 'gave way',
};

// Reasons that only repeat the state.
const plainReasons = ['', 'admitted', 'starting', 'running', 'completed', 'succeeded', 'failed', 'cancelled'];

/** Two or three words beside the state; "" where the state says it all. */
export function reasonText({ state, reason, held, exitCode }: Pick<Job, 'state' | 'reason' | 'held' | 'exitCode'>): string {
  if (held && !isOver({ state })) return 'held';
  if (plainReasons.includes(reason)) return '';
  if (reason === 'exit_code' && exitCode !== undefined) return `exit code ${exitCode}`;
  return reasonWords[reason] ?? reason.replaceAll('_', ' ');
}

type Counts = Pick<Job, 'elements' | 'waiting' | 'active' | 'succeeded' | 'failed'>;

export function progressParts({ succeeded, failed, active, waiting }: Counts): BarPart[] {
  return [
    { label: 'succeeded', value: succeeded, color: 'green' },
    { label: 'failed', value: failed, color: 'red' },
    { label: 'active', value: active, color: 'blue' },
    { label: 'waiting', value: waiting, color: 'gray' },
  ];
}

/** "9/100 · 1 failed · 10 run" */
export function progressText({ elements, succeeded, failed, active }: Counts): string {
  const more = [failed > 0 && `${failed} failed`, active > 0 && `${active} ${active === 1 ? 'runs' : 'run'}`].filter(Boolean);
  return [`${succeeded}/${elements}`, ...more].join(' · ');
}

/** Tasks that have a place; the API lists at most 64 of them. */
export const tasksActive = ({ active, gang, tasks }: Pick<Job, 'active' | 'gang' | 'tasks'>): number => active * (gang ? tasks : 1);

/** What a cancellation ends. */
export function cancelText(job: Pick<Job, 'name' | 'active' | 'gang' | 'tasks' | 'waiting'>): string {
  const tasks = tasksActive(job);
  const ends = tasks > 0 ? `${countText(tasks, 'task')} of ${job.name} ${tasks === 1 ? 'ends' : 'end'}, and files outside volumes are lost.` : `No task of ${job.name} runs.`;
  const waits = job.waiting > 0 ? ` ${countText(job.waiting, 'element')} that ${job.waiting === 1 ? 'waits does' : 'wait do'} not begin.` : '';
  return ends + waits;
}

/** "1h 30m", as a form takes it. */
export function durationWord(seconds: number): string {
  const parts = [[86_400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']] as const;
  let rest = seconds;
  const words = parts.flatMap(([size, unit]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [`${count}${unit}`] : [];
  });
  return words.join(' ') || '0';
}

export interface TaskGroup {
  key: string;
  /** "" where there is one group of all. */
  title: string;
  tasks: JobTask[];
}

/** The ranks of an element of a gang stand together; independent tasks are one group. */
export function taskGroups({ gang, running }: Pick<Job, 'gang' | 'running'>): TaskGroup[] {
  if (!gang) return running.length > 0 ? [{ key: '', title: '', tasks: running }] : [];
  const groups = new Map<string, TaskGroup>();
  for (const task of running) {
    const key = `${task.index ?? ''} ${task.attempt}`;
    const title = `${task.index === undefined ? 'Gang' : `Gang of index ${task.index}`}, attempt ${task.attempt}`;
    const group = groups.get(key) ?? { key, title, tasks: [] };
    group.tasks.push(task);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => ({ ...group, tasks: group.tasks.sort((a, b) => a.rank - b.rank) }));
}

/** The newest first. */
export const endsByTime = (ends: readonly JobEnd[]): JobEnd[] => [...ends].sort((a, b) => Date.parse(b.endedAt) - Date.parse(a.endedAt));

export interface TaskWanted {
  index?: number;
  rank: number;
  attempt?: number;
}

export interface TaskFound {
  instance: string;
  attempt: number;
}

/** Attempts of a task that the job tells of, the newest first. */
export function attemptsOf({ gang, running, ends }: Pick<Job, 'gang' | 'running' | 'ends'>, { index, rank, attempt }: TaskWanted): TaskFound[] {
  const fits = (one: { index?: number; attempt: number }) => (index === undefined || one.index === index) && (attempt === undefined || one.attempt === attempt);
  const now = running.filter((task) => fits(task) && task.rank === rank).map((task) => ({ instance: task.instance, attempt: task.attempt }));
  // An end of a gang has the instances of all ranks.
  const over = endsByTime(ends)
    .filter((end) => fits(end) && (gang || end.rank === rank))
    .flatMap((end) => {
      const instance = end.instances[gang ? rank : 0];
      return instance === undefined ? [] : [{ instance, attempt: end.attempt }];
    });
  return [...now, ...over];
}
