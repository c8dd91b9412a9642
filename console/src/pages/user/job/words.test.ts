import { attemptsOf, cancelText, durationWord, type Job, type JobEnd, type JobTask, progressText, reasonText, taskGroups } from './words';

const counts = { elements: 100, waiting: 80, active: 10, succeeded: 9, failed: 1 };

test('progress has what failed and what is active only where there is some', () => {
  expect(progressText(counts)).toBe('9/100 · 1 failed · 10 run');
  expect(progressText({ ...counts, failed: 0, active: 0 })).toBe('9/100');
});

test('a reason stands beside a state that does not say it', () => {
  const text = (job: Partial<Job>) => reasonText({ state: 'pending', reason: '', held: false, ...job });
  expect(text({ reason: 'insufficient_capacity' })).toBe('no room');
  expect(text({ reason: 'some_new_reason' })).toBe('some new reason');
  expect(text({ reason: 'insufficient_capacity', held: true })).toBe('held');
  expect(text({ state: 'running', reason: 'running' })).toBe('');
  expect(text({ state: 'failed', reason: 'exit_code', exitCode: 3 })).toBe('exit code 3');
  expect(text({ state: 'cancelled', reason: 'cancelled', held: true })).toBe('');
});

test('a cancellation says what it ends', () => {
  const job = { name: 'train', tasks: 4, gang: false, active: 0, waiting: 1 };
  expect(cancelText(job)).toBe('No task of train runs. 1 element that waits does not begin.');
  expect(cancelText({ ...job, gang: true, active: 2, waiting: 0 })).toBe('8 tasks of train end, and files outside volumes are lost.');
  expect(cancelText({ ...job, active: 1, waiting: 3 })).toBe('1 task of train ends, and files outside volumes are lost. 3 elements that wait do not begin.');
});

test('a time limit is written as the form reads it', () => {
  expect([0, 59, 3600, 5400, 90_061].map(durationWord)).toEqual(['0', '59s', '1h', '1h 30m', '1d 1h 1m 1s']);
});

const task = (rank: number, index?: number, attempt = 1): JobTask => ({ instance: `i-${index ?? 'x'}-${rank}-${attempt}`, rank, index, attempt, state: 'running' });
const end = (rank: number, index: number | undefined, attempt: number, minute: number, instances: string[]): JobEnd => ({
  rank, index, attempt, reason: 'exit_code', exitCode: 1, instances, endedAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
});

test('ranks of a gang stand together by element, in their order', () => {
  const groups = taskGroups({ gang: true, running: [task(1, 7), task(0, 7), task(0, 8, 2)] });
  expect(groups.map(({ title, tasks }) => [title, ...tasks.map(({ rank }) => rank)])).toEqual([['Gang of index 7, attempt 1', 0, 1], ['Gang of index 8, attempt 2', 0]]);
  expect(taskGroups({ gang: true, running: [task(0)] })[0]?.title).toBe('Gang, attempt 1');
  expect(taskGroups({ gang: false, running: [task(0), task(1)] })).toHaveLength(1);
  expect(taskGroups({ gang: false, running: [] })).toEqual([]);
});

test('the attempts of a task are found among those that run and those that are over', () => {
  const job = { gang: false, running: [task(0, 3, 3)], ends: [end(0, 3, 1, 1, ['i-a']), end(0, 3, 2, 5, ['i-b']), end(0, 4, 1, 6, ['i-c'])] };
  expect(attemptsOf(job, { index: 3, rank: 0 }).map(({ attempt }) => attempt)).toEqual([3, 2, 1]);
  expect(attemptsOf(job, { index: 3, rank: 0, attempt: 2 })).toEqual([{ instance: 'i-b', attempt: 2 }]);
  expect(attemptsOf(job, { index: 9, rank: 0 })).toEqual([]);
  expect(attemptsOf(job, { rank: 1 })).toEqual([]);
  const gang = { gang: true, running: [], ends: [end(0, undefined, 1, 1, ['i-0', 'i-1'])] };
  expect(attemptsOf(gang, { rank: 1 })).toEqual([{ instance: 'i-1', attempt: 1 }]);
  expect(attemptsOf(gang, { rank: 2 })).toEqual([]);
});
