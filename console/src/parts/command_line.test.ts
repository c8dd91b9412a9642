import { commandLine, curlLine } from './command_line';

const create = { command: 'instance create', argument: 'instanceID', method: 'POST', path: '/gpu-instances' };

test('fields are flags as the command line has them', () => {
  const body = {
    instanceID: 'nb-1', tenantID: 'acme', specName: 'h100-1', inactivityTimeoutSeconds: 600, labels: { team: 'ml' },
    template: { ports: [{ port: 80, isPublic: true, isProbe: true }], cmd: 'python a.py' }, placement: { zones: ['nj'] },
  };
  expect(commandLine({ ...create, body })).toBe(
    "hostler instance create nb-1 --tenant acme --spec h100-1 --inactivity-timeout 600s --label team=ml --port 80,public,probe --cmd 'python a.py' --zone nj",
  );
});

test('amounts of a queue have flags with what they are', () => {
  const body = { tenantID: 'acme', project: 'lab', weight: 3, guaranteed: { gpus: 4 }, most: { gpus: 8, memory: '1Ti' }, ifVersion: 2 };
  expect(commandLine({ command: 'queue set', method: 'PUT', path: '/v1/queues', body })).toBe(
    'hostler queue set --tenant acme --project lab --weight 3 --guaranteed-gpus 4 --most-gpus 8 --most-memory 1Ti --if-version 2',
  );
});

test('pools, values and labels of a cluster have the flags of its command', () => {
  const body = { name: 'train', values: { podSubnet: '10.1.0.0/16' }, control: 3, controlHosts: ['a', 'b'], controlLabels: { role: 'control' }, pools: [{ name: 'gpu', count: 2, gpuType: 'H100 SXM5', gpus: 8, hosts: ['c'], hostLabels: { disk: 'nvme' } }, { name: 'cpu', zone: 'nj' }], labels: { team: 'ml' } };
  expect(commandLine({ command: 'cluster create', argument: 'name', method: 'POST', path: '/v1/clusters', body })).toBe(
    `hostler cluster create train --value podSubnet=10.1.0.0/16 --control 3 --control-host a --control-host b --control-label role=control --pool 'gpu=2,gpu-type=H100 SXM5,gpus=8,host=c,label=disk=nvme' --pool cpu=1,zone=nj --label team=ml`,
  );
  expect(commandLine({ command: 'cluster scale kc-1', method: 'PATCH', path: '/v1/clusters/kc-1', body: { pools: [{ name: 'gpu' }] } })).toBe('hostler cluster scale kc-1 --pools gpu=1');
  expect(commandLine({ command: 'cluster scale kc-1', method: 'PATCH', path: '/v1/clusters/kc-1', body: { pools: [] } })).toBe("hostler cluster scale kc-1 --pools ''");
  expect(commandLine({ command: 'cluster scale kc-1', method: 'PATCH', path: '/v1/clusters/kc-1', body: { pool: 'gpu', count: 0 } })).toBe('hostler cluster scale kc-1 --pool gpu --count 0');
  expect(commandLine({ command: 'cluster delete kc-1', method: 'DELETE', path: '/v1/clusters/kc-1', flags: { tenantID: 'acme', force: true, reason: 'new hosts' } })).toBe(
    "hostler cluster delete kc-1 --tenant acme --force --reason 'new hosts'",
  );
});

test('quotes in values cannot end the shell word', () => {
  expect(commandLine({ ...create, body: { instanceID: "a'; rm -rf /" } })).toBe("hostler instance create 'a'\\''; rm -rf /'");
  expect(curlLine({ ...create, body: { a: "'" } }, 'http://c')).toContain(`-d '{"a":"'\\''"}'`);
  expect(curlLine({ ...create, path: '/v1/quotas?tenantID=a&project=b' }, 'http://c')).toContain(" 'http://c/v1/quotas?tenantID=a&project=b'");
});

test('what is not set has no flag', () => {
  expect(commandLine({ command: 'volume delete v-1', method: 'DELETE', path: '/v1/volumes/v-1', flags: { tenantID: undefined } })).toBe('hostler volume delete v-1');
});
