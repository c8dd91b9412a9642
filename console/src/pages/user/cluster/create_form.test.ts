import { initialValues, placeErrors } from '../../../parts/form_values';
import { atRows, controlFields, createBody, createText, type Driver, driverFields, driverOf, firstPool, isComplete, nameFields, poolFields } from './create_form';

const kubeadm: Driver = { name: 'kubeadm', title: 'Kubernetes by kubeadm', versions: ['v1.36.3', 'v1.35.1'], ports: [], values: { podSubnet: '10.244.0.0/16', proxyMode: 'nftables' } };
const other: Driver = { ...kubeadm, name: 'other', versions: ['v2'], values: {} };
const drivers = [kubeadm, other];

const fieldsOf = (rows: number[], driver = kubeadm, tenant?: string) =>
  [...nameFields(tenant), ...driverFields(drivers, driver), ...controlFields(false), ...rows.flatMap((row) => poolFields(row, false))];

function body(given: Record<string, unknown>, rows = [0], driver = kubeadm, tenant?: string) {
  const fields = fieldsOf(rows, driver, tenant);
  return createBody(fields, initialValues(fields, given), rows, driver);
}

test('what is not given is absent, and the first pool takes one host with GPUs', () => {
  expect(body({ name: 'train', ...firstPool })).toEqual({ name: 'train', driver: 'kubeadm', control: 1, pools: [{ name: 'gpu', count: 1, gpus: 1 }] });
  expect(body({ name: 'train' }, [])).toEqual({ name: 'train', driver: 'kubeadm', control: 1 });
});

test('rows are pools in their order, with where their hosts are', () => {
  const given = {
    name: 'train', version: 'v1.35.1', 'values.podSubnet': '10.1.0.0/16', control: '3', controlZone: 'nj', controlHosts: ['a', 'b', 'c'], controlLabels: ['role=control'],
    'pools.4.name': 'gpu', 'pools.4.count': 4, 'pools.4.gpuType': 'H100', 'pools.4.gpus': 8, 'pools.4.hostLabels': ['disk=nvme'],
    'pools.2.name': 'cpu', 'pools.2.count': 0, 'pools.2.zone': 'lon', 'pools.2.hosts': ['d'],
  };
  expect(body(given, [4, 2])).toEqual({
    name: 'train', driver: 'kubeadm', version: 'v1.35.1', values: { podSubnet: '10.1.0.0/16' }, control: 3, controlZone: 'nj', controlHosts: ['a', 'b', 'c'], controlLabels: { role: 'control' },
    pools: [{ name: 'gpu', count: 4, gpuType: 'H100', gpus: 8, hostLabels: { disk: 'nvme' } }, { name: 'cpu', count: 0, zone: 'lon', hosts: ['d'] }],
  });
});

test('another driver takes neither version nor values of the one before', () => {
  expect(driverOf(drivers, { driver: 'other' })).toBe(other);
  expect(driverOf(drivers, { driver: '' })).toBeUndefined();
  expect(body({ name: 'x', driver: 'other', version: 'v1.35.1', 'values.podSubnet': '10.1.0.0/16' }, [], other)).toEqual({ name: 'x', driver: 'other', control: 1 });
});

test('a form without a name, a pool without one, and an operator without a tenant are not complete', () => {
  expect(isComplete(body({}), false)).toBe(false);
  expect(isComplete(body({ name: 'train' }), false)).toBe(false);
  expect(isComplete(body({ name: 'train', ...firstPool }), false)).toBe(true);
  expect(isComplete(body({ name: 'train' }, []), false)).toBe(true);
  expect(isComplete(body({ name: 'train', ...firstPool }, [0], kubeadm, ''), true)).toBe(false);
  expect(isComplete(body({ name: 'train', ...firstPool }, [0], kubeadm, 'acme'), true)).toBe(true);
});

test('a refusal of a pool stands at its row, also when rows before it were removed', () => {
  const rows = [4, 2];
  const errors = [
    { field: 'pools[1].count', message: 'is more than the 1 hosts that are named' }, { field: 'pools[0].hosts[1]', message: 'there is no host x' },
    { field: 'pools', message: 'have too many hosts' }, { field: 'values.podSubnet', message: 'is no subnet' }, { field: 'pools[7].name', message: 'odd' },
  ];
  const { at, others } = placeErrors(fieldsOf(rows), atRows(errors, rows));
  expect(at).toEqual({ 'pools/2/count': errors[0]?.message, 'pools/4/hosts': errors[1]?.message, 'values/podSubnet': errors[3]?.message });
  expect(others.map(({ field }) => field)).toEqual(['pools', 'pools[7].name']);
});

test('a cluster in words before it is made', () => {
  expect(createText({ control: 1 })).toBe('1 host of the control plane, no workers');
  expect(createText({ control: 3, pools: [{ count: 4 }, {}, { count: 0 }] })).toBe('3 hosts of the control plane, 5 hosts in 3 pools');
});
