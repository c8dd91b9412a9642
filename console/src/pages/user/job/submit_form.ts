// Fields and body of a submission, and the same from a job that was submitted before.
import type { Schemas } from '../../../api/client';
import { bodyOf, type Values } from '../../../parts/form_values';
import type { FormField } from '../../../parts/resource';
import { durationText } from '../../../parts/words';
import { durationWord, isOver, type Job } from './words';

type Offer = Schemas['Offer'];

/** `tenant`: absent where one's own is meant. */
export function programFields(tenant?: string): FormField[] {
  return [
    { name: 'name', label: 'Name', required: true, placeholder: 'train' },
    ...(tenant === undefined ? [] : [{ name: 'tenantID', label: 'Tenant', required: true, initial: tenant }]),
    { name: 'image', label: 'Image', required: true, placeholder: 'docker.io/pytorch/pytorch:2.9' },
    { name: 'cmd', label: 'Command', placeholder: 'python train.py --epochs 3', help: "Absent: the image's." },
    { name: 'envs', label: 'Environment variables', kind: 'long', placeholder: 'HF_HOME=/data/hf', help: 'NAME=VALUE, one in each line.', more: true },
    { name: 'volumes', label: 'Volumes', kind: 'long', placeholder: 'models:/data', help: 'VOLUME:/PATH or VOLUME:/PATH:ro, one in each line. Files elsewhere end with the task.', more: true },
    { name: 'project', label: 'Project', more: true, help: 'Absent: default.' },
    { name: 'labels', label: 'Labels', kind: 'labels', more: true },
  ];
}

export const sizeFields: FormField[] = [
  { name: 'tasks', label: 'Tasks', kind: 'number', placeholder: '1' },
  { name: 'gang', label: 'Gang', kind: 'flag', help: 'The tasks begin together on one host, find each other by RANK, WORLD_SIZE and MASTER_ADDR, and end together when one fails.' },
  { name: 'timeLimitSeconds', label: 'Time limit', kind: 'duration', help: 'A job with a limit starts sooner, in gaps before larger jobs.' },
  { name: 'array', label: 'Array', placeholder: '0-99%10', help: 'Run it once for each index; %10 lets ten run at the same time. A task finds its index in HOSTLER_ARRAY_INDEX.', more: true },
  { name: 'retries', label: 'Retries', kind: 'number', placeholder: '0', help: 'After an exit code other than 0. A lost host and a preemption do not count.', more: true },
  { name: 'priority', label: 'Priority', kind: 'number', placeholder: '0', help: 'Among your own jobs; more is first.', more: true },
  { name: 'after', label: 'After', kind: 'words', valuesFrom: { path: '/v1/jobs', field: 'name' }, placeholder: 'prepare', help: 'Jobs that have to succeed first; NAME=ended and NAME=failed wait for another end.', more: true },
  { name: 'zone', label: 'Zone', kind: 'choice', valuesFrom: { path: '/v1/zones', field: 'name' }, help: 'Absent: any.', more: true },
  { name: 'hold', label: 'Hold', kind: 'flag', help: 'Do not begin it before it is released.', more: true },
];

const linesOf = (text: unknown) => String(text).split('\n').map((line) => line.trim()).filter(Boolean);

function variable(line: string) {
  const at = line.indexOf('=');
  return at < 0 ? { name: line, value: '' } : { name: line.slice(0, at), value: line.slice(at + 1) };
}

function mount(line: string) {
  const [, name = '', mountPath = line, mode] = /^([^:/]*):?(\/[^:]*)(?::(ro|rw))?$/.exec(line) ?? [];
  return { ...(name ? { name } : {}), mountPath, ...(mode === 'ro' ? { readOnly: true } : {}) };
}

function dependency(word: string) {
  const [job, when] = word.split('=');
  return { job, ...(when ? { when } : {}) };
}

export function submitBody(fields: readonly FormField[], values: Values, spec: string): Record<string, unknown> {
  const { envs, volumes, after, ...given } = bodyOf(fields, values);
  return {
    ...given,
    specName: spec,
    ...(envs ? { envs: linesOf(envs).map(variable) } : {}),
    ...(volumes ? { volumes: linesOf(volumes).map(mount) } : {}),
    ...(after ? { after: (after as string[]).map(dependency) } : {}),
  };
}

type Body = Record<string, unknown>;

/** The request that makes the job again; the list of jobs does not answer it. */
const submissionOf = (job: Job): Body => (job as Job & { submission?: Body }).submission ?? {};

const kept = ['entrypoint', 'secretEnvs', 'secretFiles', 'placement', 'shmSize', 'stopGraceSeconds', 'noInit'];

/** Parts of a job that the form does not show, and that another submission has as well. */
export function keptOf(job: Job | undefined): Body {
  const submission = job ? submissionOf(job) : {};
  return Object.fromEntries(kept.filter((name) => submission[name] !== undefined).map((name) => [name, submission[name]]));
}

interface Mount { name?: string; mountPath: string; readOnly?: boolean }
const mountLine = ({ name, mountPath, readOnly }: Mount) => `${name ? `${name}:` : ''}${mountPath}${readOnly ? ':ro' : ''}`;

/** Values of a form, as of this job. A name is free once the job is over. */
export function valuesOfJob(job: Job): Values {
  const { envs = [], volumes = [], zone = '' } = submissionOf(job) as { envs?: { name: string; value: string }[]; volumes?: Mount[]; zone?: string };
  return {
    name: isOver(job) ? job.name : `${job.name}-2`,
    tenantID: job.tenantID,
    image: job.image,
    cmd: job.cmd,
    envs: envs.map(({ name, value }) => `${name}=${value}`).join('\n'),
    volumes: volumes.map(mountLine).join('\n'),
    zone,
    project: job.project,
    labels: Object.entries(job.labels).map(([name, value]) => `${name}=${value}`),
    tasks: job.tasks,
    gang: job.gang,
    array: job.array ?? '',
    timeLimitSeconds: job.timeLimitSeconds > 0 ? durationWord(job.timeLimitSeconds) : '',
    retries: job.retries > 0 ? job.retries : '',
    priority: job.priority === 0 ? '' : job.priority,
    after: job.after.map(({ job: id, when }) => (when === 'succeeded' ? id : `${id}=${when}`)),
  };
}

const anyZone = 'any zone';

/** Of each spec one offer, of all zones together: a job runs where there is room. */
export function specsOf(offers: readonly Offer[]): Offer[] {
  const bySpec = new Map<string, Offer[]>();
  for (const offer of offers) bySpec.set(offer.spec, [...(bySpec.get(offer.spec) ?? []), offer]);
  const sum = (all: Offer[], count: (offer: Offer) => number) => all.reduce((total, offer) => total + count(offer), 0);
  const priceOf = ({ price }: Offer) => (price ? Number(price) : Number.POSITIVE_INFINITY);
  return [...bySpec.values()].flatMap((all) => {
    const [cheapest] = [...all].sort((a, b) => priceOf(a) - priceOf(b));
    if (!cheapest) return [];
    const zones = [...new Set(all.map(({ zone }) => zone))].sort();
    return [{
      ...cheapest, zone: anyZone, location: zones.join(', '), trust: '', isolation: '', ready: 0,
      available: sum(all, ({ available }) => available), reclaimable: sum(all, ({ reclaimable }) => reclaimable),
    }];
  });
}

/** What is submitted: "4 tasks as a gang, for each index of 0-9, ends after 1 h · waits for room". */
export function submitText(body: Record<string, unknown>, offer: Offer | undefined): string {
  const tasks = Number(body.tasks ?? 1);
  const limit = Number(body.timeLimitSeconds ?? 0);
  const parts = [
    `${tasks} ${tasks === 1 ? 'task' : 'tasks'}${body.gang ? ' as a gang' : ''}`,
    ...(body.array ? [`for each index of ${String(body.array)}`] : []),
    limit > 0 ? `ends after ${durationText(limit)}` : 'without a time limit',
  ].join(', ');
  const room = offer && (offer.available > 0 ? `${offer.available} free now` : offer.reclaimable > 0 ? `${offer.reclaimable} where idle stock gives way` : 'none is free now: it waits');
  return [parts, body.hold ? 'held until it is released' : room].filter(Boolean).join(' · ');
}
