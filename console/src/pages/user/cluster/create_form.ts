// Fields and body of a new cluster. Its pools are rows: row 3 has the fields `pools.3.name`, `pools.3.count`.
import type { Schemas } from '../../../api/client';
import type { FieldProblem } from '../../../api/problem';
import { bodyOf, type Values } from '../../../parts/form_values';
import type { FormField } from '../../../parts/resource';
import { countText } from '../../../parts/words';

export type Driver = Schemas['ClusterDriver'];
type Body = Record<string, unknown>;

export const poolsMax = 32;

/** `tenant`: absent where one's own is meant. */
export function nameFields(tenant?: string): FormField[] {
  return [
    { name: 'name', label: 'Name', required: true, placeholder: 'train' },
    ...(tenant === undefined ? [] : [{ name: 'tenantID', label: 'Tenant', required: true, initial: tenant }]),
    { name: 'project', label: 'Project', more: true, help: 'Absent: default.' },
    { name: 'labels', label: 'Labels', kind: 'labels', more: true },
  ];
}

/** Of the driver that is chosen: its versions, and its values with their defaults. */
export function driverFields(drivers: readonly Driver[], chosen: Driver | undefined): FormField[] {
  const [newest] = chosen?.versions ?? [];
  return [
    { name: 'driver', label: 'Driver', kind: 'choice', required: true, values: drivers.map(({ name }) => name), initial: drivers[0]?.name, help: chosen?.title },
    { name: 'version', label: 'Version', kind: 'choice', values: chosen?.versions ?? [], placeholder: newest, help: 'Absent: the newest.' },
    ...Object.entries(chosen?.values ?? {}).map(([name, value]): FormField => ({ name: `values.${name}`, label: name, placeholder: value, more: true })),
  ];
}

/** Where hosts are chosen from. Names of hosts are suggested to those who may see them. */
function whereFields(names: { zone: string; hosts: string; labels: string }, maySeeHosts: boolean): FormField[] {
  return [
    { name: names.zone, label: 'Zone', kind: 'choice', valuesFrom: { path: '/v1/zones', field: 'name' }, help: 'Absent: any.', more: true },
    { name: names.hosts, label: 'Hosts', kind: 'words', valuesFrom: maySeeHosts ? { path: '/v1/hosts', field: 'name' } : undefined, help: 'Only these, by name or id. Absent: any.', more: true },
    { name: names.labels, label: 'Labels of hosts', kind: 'labels', placeholder: 'disk=nvme', help: 'Only hosts with each of them.', more: true },
  ];
}

export function controlFields(maySeeHosts: boolean): FormField[] {
  return [
    { name: 'control', label: 'Control plane hosts', kind: 'choice', required: true, values: ['1', '3'], initial: '1', help: 'With 3 the API survives the loss of one of them.' },
    ...whereFields({ zone: 'controlZone', hosts: 'controlHosts', labels: 'controlLabels' }, maySeeHosts),
  ];
}

export function poolFields(row: number, maySeeHosts: boolean): FormField[] {
  const at = (name: string) => `pools.${row}.${name}`;
  return [
    { name: at('name'), label: 'Pool', required: true, placeholder: 'gpu' },
    { name: at('count'), label: 'Hosts', kind: 'number', placeholder: '1' },
    { name: at('gpuType'), label: 'GPU model', placeholder: 'any, as H100' },
    { name: at('gpus'), label: 'GPUs of each host, at least', kind: 'number', placeholder: '0' },
    ...whereFields({ zone: at('zone'), hosts: at('hosts'), labels: at('hostLabels') }, maySeeHosts),
  ];
}

/** Of the first pool of a form. */
export const firstPool: Values = { 'pools.0.name': 'gpu', 'pools.0.count': 1, 'pools.0.gpus': 1 };

export const driverOf = (drivers: readonly Driver[], values: Values): Driver | undefined => drivers.find(({ name }) => name === values.driver);

/** `rows`: numbers of the pools, in their order. */
export function createBody(fields: readonly FormField[], values: Values, rows: readonly number[], driver: Driver | undefined): Body {
  const { pools = {}, control, version, ...given } = bodyOf(fields, values);
  const of = pools as Record<number, Body>;
  return {
    ...given,
    // A version of another driver, which was chosen before.
    ...(driver?.versions.includes(String(version)) ? { version } : {}),
    control: Number(control),
    ...(rows.length > 0 ? { pools: rows.map((row) => of[row] ?? {}) } : {}),
  };
}

/** All that is required is given. */
export function isComplete(body: Body, asksTenant: boolean): boolean {
  const pools = (body.pools ?? []) as Body[];
  return Boolean(body.name && body.driver && (!asksTenant || body.tenantID) && pools.every(({ name }) => name));
}

/** Refusals as fields of the form have them: `pools[1].count` is that of the second row. */
export function atRows(errors: readonly FieldProblem[], rows: readonly number[]): FieldProblem[] {
  return errors.map(({ field, message }) => {
    const [, place, rest] = /^pools\[(\d+)\](.*)$/.exec(field) ?? [];
    const row = place === undefined ? undefined : rows[Number(place)];
    return { field: row === undefined ? field : `pools.${row}${rest}`, message };
  });
}

/** "1 host of the control plane, 6 hosts in 2 pools" */
export function createText(body: Body): string {
  const pools = (body.pools ?? []) as { count?: number }[];
  const hosts = pools.reduce((sum, { count = 1 }) => sum + Number(count), 0);
  const workers = pools.length === 0 ? 'no workers' : `${countText(hosts, 'host')} in ${countText(pools.length, 'pool')}`;
  return `${countText(Number(body.control), 'host')} of the control plane, ${workers}`;
}
