// Create a cluster: its driver, its control plane, its pools; the API is asked first which hosts it would take.
import { Button, Collapse, Fieldset, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Schemas } from '../../../api/client';
import { usePermission, useWhoami } from '../../../api/permissions';
import type { Problem } from '../../../api/problem';
import { useRead } from '../../../api/use_read';
import { useWould } from '../../../api/use_would';
import { FieldGroup } from '../../../parts/field_group';
import { FormFieldInput } from '../../../parts/form_field';
import { initialValues, keyOf, placeErrors, restOf, type Values } from '../../../parts/form_values';
import { PageFrame, Section } from '../../../parts/page_frame';
import { ShowAs } from '../../../parts/show_as';
import { AsyncView, Command, Empty, Refusal } from '../../../parts/states';
import { useDeed } from '../../../parts/use_deed';
import { lastTenant, rememberTenant } from '../start_form';
import { atRows, controlFields, createBody, createText, type Driver, driverFields, driverOf, firstPool, isComplete, nameFields, poolFields, poolsMax } from './create_form';
import { clusterPage, clusters } from './kind';
import type { Cluster } from './words';

type Form = ReturnType<typeof useForm<Values>>;

/** Images that its hosts pull; asked for when they are opened. */
function Images({ driver, version }: { driver: string; version?: string }) {
  const [open, images] = useDisclosure(false);
  const query = useRead('/v1/cluster-images', { query: { driver, version } }, { enabled: open });
  return (
    <div>
      <Button variant="subtle" size="compact-sm" onClick={images.toggle} aria-expanded={open} leftSection={open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}>
        Images that hosts need
      </Button>
      <Collapse expanded={open}>
        <Stack gap="xs" mt="sm">
          <Text fz="sm">Hosts pull these images. A site without the internet needs a registry or an archive that has them.</Text>
          {open && <AsyncView query={query} lines={3}>{(it) => <List size="sm">{it.images.map((image) => <List.Item key={image} className="breakable">{image}</List.Item>)}</List>}</AsyncView>}
          <Command line={`hostler cluster images --driver ${driver}${version ? ` --version ${version}` : ''}`} />
        </Stack>
      </Collapse>
    </div>
  );
}

interface PoolProps {
  form: Form;
  row: number;
  maySeeHosts: boolean;
  onRemove: () => void;
}

function Pool({ form, row, maySeeHosts, onRemove }: PoolProps) {
  const fields = poolFields(row, maySeeHosts);
  const name = String(form.values[keyOf(`pools.${row}.name`)] ?? '');
  return (
    <Fieldset legend={name ? `Pool ${name}` : 'New pool'}>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          {fields.filter(({ more }) => !more).map((field) => <FormFieldInput key={field.name} field={field} input={form.getInputProps(keyOf(field.name))} />)}
        </SimpleGrid>
        <FieldGroup fields={fields.filter(({ more }) => more)} form={form} />
        <Group><Button variant="default" size="xs" onClick={onRemove}>Remove {name ? `pool ${name}` : 'this pool'}</Button></Group>
      </Stack>
    </Fieldset>
  );
}

function Pools({ form, rows, setRows, maySeeHosts }: { form: Form; rows: number[]; setRows: (rows: number[]) => void; maySeeHosts: boolean }) {
  const add = () => {
    const row = Math.max(-1, ...rows) + 1;
    form.setValues(initialValues(poolFields(row, maySeeHosts)));
    setRows([...rows, row]);
  };
  return (
    <Stack>
      {rows.length === 0 && <Text>Without a pool the cluster has a control plane and no workers. Pools can be added later.</Text>}
      {rows.map((row) => <Pool key={row} form={form} row={row} maySeeHosts={maySeeHosts} onRemove={() => setRows(rows.filter((one) => one !== row))} />)}
      <Group><Button variant="default" leftSection={<Plus size={14} aria-hidden />} disabled={rows.length >= poolsMax} onClick={add}>Add a pool</Button></Group>
    </Stack>
  );
}

/** Hosts that it would take now, in words, and which. */
function PlanView({ plan }: { plan: Schemas['ClusterPlan'] }) {
  const maySeeHosts = usePermission('host.read');
  return (
    <div role="status">
      <Text c={plan.fits ? undefined : 'orange'}>{plan.sentence}</Text>
      {plan.hosts.length > 0 && (
        <Text fz="sm">
          Hosts:{' '}
          {plan.hosts.map((host, index) => <span key={host}>{index > 0 && ', '}{maySeeHosts ? <Link className="plain" href={`/hosts/${encodeURIComponent(host)}`}>{host}</Link> : host}</span>)}
        </Text>
      )}
    </div>
  );
}

/** `tenant`: absent where one's own is meant. */
function useClusterForm(drivers: readonly Driver[], tenant: string | undefined) {
  const [search] = useSearchParams();
  const maySeeHosts = usePermission('host.read');
  const [rows, setRows] = useState([0]);
  const [refused, setRefused] = useState<Problem>();
  const parts = (driver: Driver | undefined) => ({ name: nameFields(tenant), driver: driverFields(drivers, driver), control: controlFields(maySeeHosts) });
  const all = (driver: Driver | undefined, numbers: number[]) => [...Object.values(parts(driver)).flat(), ...numbers.flatMap((row) => poolFields(row, maySeeHosts))];
  const form = useForm<Values>({
    // Values of all drivers, so that each has an input that is not empty of a value.
    initialValues: Object.assign({}, ...drivers.map((one) => initialValues(all(one, [0]), { ...firstPool, ...Object.fromEntries(search) }))) as Values,
    onValuesChange: () => setRefused(undefined),
  });
  const driver = driverOf(drivers, form.values);
  const fields = all(driver, rows);
  const change = (next: number[]) => {
    setRefused(undefined);
    setRows(next);
  };
  const refuse = (problem: Problem) => {
    const { at, others } = placeErrors(fields, atRows(problem.errors, rows));
    form.setErrors(at);
    setRefused(restOf(problem, others));
  };
  return { form, rows, change, refused, setRefused, refuse, maySeeHosts, driver, parts: parts(driver), body: createBody(fields, form.values, rows, driver) };
}

function CreateForm({ drivers, tenant }: { drivers: Driver[]; tenant?: string }) {
  const [, go] = useLocation();
  const { form, rows, change, refused, setRefused, refuse, maySeeHosts, driver, parts, body } = useClusterForm(drivers, tenant);
  const complete = isComplete(body, tenant !== undefined);
  const would = useWould<Cluster>({ path: '/v1/clusters', body, complete, kinds: ['host', 'quota'] });
  const created = (answer: unknown) => {
    const cluster = answer as Cluster;
    if (tenant !== undefined) rememberTenant(cluster.tenantID);
    go(clusterPage(cluster));
  };
  const deed = useDeed({ kinds: clusters.kinds, done: `${String(body.name)} is being made.`, onDone: created });
  const submit = () => {
    setRefused(undefined);
    deed.mutate({ method: 'POST', path: '/v1/clusters', call: { body } }, { onError: refuse });
  };
  const problem = refused ?? (complete ? (would.error ?? undefined) : undefined);
  return (
    <form onSubmit={form.onSubmit(submit)} noValidate>
      <Stack>
        <Section title="1 Cluster"><FieldGroup fields={parts.name} form={form} /></Section>
        <Section title="2 Kubernetes">
          <Stack gap="md">
            <FieldGroup fields={parts.driver} form={form} />
            {driver && <Images driver={driver.name} version={body.version as string | undefined} />}
          </Stack>
        </Section>
        <Section title="3 Control plane"><FieldGroup fields={parts.control} form={form} /></Section>
        <Section title="4 Workers"><Pools form={form} rows={rows} setRows={change} maySeeHosts={maySeeHosts} /></Section>
        {problem && <Refusal problem={problem} />}
        {!problem && complete && would.data?.plan && <PlanView plan={would.data.plan} />}
        <Group>
          <Button type="submit" size="md" loading={deed.isPending} disabled={!complete}>Create</Button>
          <Text role="status">{problem ? 'It cannot be created as it is.' : createText(body)}</Text>
        </Group>
        <ShowAs command="cluster create" argument="name" method="POST" path="/v1/clusters" body={body} kind="cluster" />
      </Stack>
    </form>
  );
}

function Drivers() {
  const who = useWhoami();
  const drivers = useRead('/v1/cluster-drivers');
  if (!who) return null;
  if (!drivers.data) return <AsyncView query={drivers}>{() => null}</AsyncView>;
  if (drivers.data.drivers.length === 0)
    return <Empty text="This master has no driver that could make a cluster. An operator adds a folder of drivers with --drivers." command="hostler cluster drivers" />;
  const tenant = who.isOperator && !who.tenantID ? (localStorage.getItem(lastTenant) ?? '') : undefined;
  return <CreateForm drivers={drivers.data.drivers} tenant={tenant} />;
}

export default function CreateClusterPage() {
  return (
    <PageFrame title="Create a cluster" up={{ to: '/clusters', label: 'Clusters' }} lead="It takes whole hosts. Nothing else runs there until it is deleted and they are clean.">
      <Drivers />
    </PageFrame>
  );
}
