// Settings of queues: weight, guarantee, limit.
import type { Place } from '../../../api/permissions';
import type { Deed, FormField } from '../../../parts/resource';
import { type Queue, wordsOf } from './tree';

/** The settings of a tenant's queue are the operator's, those of its projects and users are the tenant's. */
export const placeOf = ({ tenantID, project }: Pick<Queue, 'tenantID' | 'project'>): Place => ({ tenantID: project ? tenantID : '', project: '' });

const scopeOf = ({ tenantID, project, user }: Queue): Record<string, string> =>
  Object.fromEntries(Object.entries({ tenantID, project, user }).filter(([, value]) => value !== ''));

export const settingsFields = (queue?: Queue): FormField[] => [
  { name: 'weight', label: 'Weight', kind: 'number', initial: queue?.weight ?? 1, help: 'Its part among the queues of the same parent: twice the weight, twice the part.' },
  { name: 'guaranteed.gpus', label: 'Guaranteed GPUs', kind: 'number', initial: queue?.guaranteed?.gpus ?? '', help: 'Its jobs are admitted first up to this number, and jobs of others that borrow it are preempted. Empty: none.' },
  { name: 'most.gpus', label: 'Most GPUs', kind: 'number', initial: queue?.most?.gpus ?? '', help: 'Its jobs never have more. Empty: no limit.' },
  { name: 'guaranteed.cpu', label: 'Guaranteed CPUs', placeholder: '64', initial: queue?.guaranteed?.cpu ?? '', more: true },
  { name: 'guaranteed.memory', label: 'Guaranteed memory', placeholder: '512Gi', initial: queue?.guaranteed?.memory ?? '', more: true },
  { name: 'most.cpu', label: 'Most CPUs', placeholder: '64', initial: queue?.most?.cpu ?? '', more: true },
  { name: 'most.memory', label: 'Most memory', placeholder: '512Gi', initial: queue?.most?.memory ?? '', more: true },
];

/** What is left empty is not set. */
export function withoutEmptyAmounts(body: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(body).map(([name, value]) => {
    if (typeof value !== 'object' || value === null) return [name, value] as const;
    const amounts = Object.entries(value).filter(([, amount]) => amount !== '' && amount !== undefined);
    return [name, amounts.length > 0 ? Object.fromEntries(amounts) : undefined] as const;
  });
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

export const changeQueue: Deed<Queue> = {
  label: 'Change',
  method: 'PUT',
  path: '/v1/queues',
  body: (queue) => ({ ...scopeOf(queue), ifVersion: queue.version }),
  permission: 'queue.write',
  command: 'queue set',
  plan: (queue) => `These settings of ${wordsOf(queue)} replace the present ones. They count from the next admission on.`,
  fields: settingsFields,
  shape: withoutEmptyAmounts,
  done: 'The queue is set.',
};

export const clearQueue: Deed<Queue> = {
  label: 'Delete settings',
  method: 'DELETE',
  path: '/v1/queues',
  query: scopeOf,
  permission: 'queue.write',
  command: 'queue delete',
  plan: (queue) => `The queue of ${wordsOf(queue)} has weight 1, no guarantee and no limit. Its jobs stay.`,
  done: 'The settings are deleted.',
  when: ({ version }) => version > 0,
  danger: true,
};
