import type { Schemas } from '../../../api/client';
import { initialValues } from '../../../parts/form_values';
import { programFields, sizeFields, specsOf, submitBody, submitText, valuesOfJob } from './submit_form';
import type { Job } from './words';

const fields = [...programFields(), ...sizeFields];
const body = (given: Record<string, unknown>) => submitBody(fields, initialValues(fields, given), 'h100-1');

test('what is not given is absent', () => {
  expect(body({ name: 'train', image: 'demo' })).toEqual({ name: 'train', image: 'demo', specName: 'h100-1' });
});

test('lines and words are variables, mounts and dependencies', () => {
  expect(body({ envs: 'A=1,2=3\n\n B = x\nC', volumes: 'models:/data\nmodels:/ro:ro\n/scratch\nodd', after: ['prepare', 'j-1=ended'] })).toEqual({
    specName: 'h100-1',
    envs: [{ name: 'A', value: '1,2=3' }, { name: 'B ', value: ' x' }, { name: 'C', value: '' }],
    volumes: [{ name: 'models', mountPath: '/data' }, { name: 'models', mountPath: '/ro', readOnly: true }, { mountPath: '/scratch' }, { mountPath: 'odd' }],
    after: [{ job: 'prepare' }, { job: 'j-1', when: 'ended' }],
  });
});

const job: Job = {
  id: 'j-1', name: 'train', tenantID: 'acme', project: 'lab', state: 'failed', reason: '', message: '', image: 'demo', cmd: 'run', specName: 'h100-1', tasks: 4, gang: true,
  array: '0-3', elements: 4, waiting: 0, active: 0, succeeded: 0, failed: 4, timeLimitSeconds: 5400, retries: 0, priority: -2, held: false, after: [{ job: 'j-0', when: 'ended' }],
  running: [], ends: [], createdBy: '', createdAt: '2026-01-01T00:00:00Z', labels: { team: 'ml' },
};

test('a job is submitted again as it was', () => {
  const own = [...programFields('acme'), ...sizeFields];
  expect(submitBody(own, initialValues(own, valuesOfJob(job)), job.specName)).toEqual({
    name: 'train', tenantID: 'acme', image: 'demo', cmd: 'run', project: 'lab', labels: { team: 'ml' }, tasks: 4, gang: true, array: '0-3', timeLimitSeconds: 5400, priority: -2,
    after: [{ job: 'j-0', when: 'ended' }], specName: 'h100-1',
  });
  expect(valuesOfJob({ ...job, state: 'running' }).name).toBe('train-2');
});

const offer = (spec: string, zone: string, available: number, price?: string) =>
  ({ spec, zone, available, reclaimable: 1, ready: 2, price, currency: 'USD', trust: 'trusted', isolation: '', location: zone }) as Schemas['Offer'];

test('offers of a spec are one, with the lowest price and the sum of what is free', () => {
  const specs = specsOf([offer('a', 'nj', 1), offer('a', 'lon', 2, '2.5'), offer('b', 'nj', 0, '1'), offer('a', 'nj', 4, '3')]);
  expect(specs.map(({ spec, location, available, reclaimable, price }) => [spec, location, available, reclaimable, price])).toEqual([['a', 'lon, nj', 7, 3, '2.5'], ['b', 'nj', 0, 1, '1']]);
});

test('a submission says what it is, and whether there is room', () => {
  expect(submitText({ tasks: 4, gang: true, array: '0-9', timeLimitSeconds: 3600 }, offer('a', 'nj', 3))).toBe('4 tasks as a gang, for each index of 0-9, ends after 1 h · 3 free now');
  expect(submitText({}, { ...offer('a', 'nj', 0), reclaimable: 0 })).toBe('1 task, without a time limit · none is free now: it waits');
  expect(submitText({ hold: true }, offer('a', 'nj', 3))).toBe('1 task, without a time limit · held until it is released');
});
