// Quotas, each with what is used of it: own part, borrowed part, limit.
import { Badge, Button, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Schemas } from '../../api/client';
import { usePermission } from '../../api/permissions';
import { useList } from '../../api/use_read';
import { Action } from '../../parts/action';
import { Bar, Legend } from '../../parts/bars';
import { PageFrame, Section } from '../../parts/page_frame';
import type { Deed, FormField } from '../../parts/resource';
import { ResourceForm } from '../../parts/resource_form';
import { Empty, Loading, Refusal } from '../../parts/states';
import { type Limit, limitOf, limitText, sharesOf } from '../../parts/amounts';
import { projectField, tenantField } from './fields';

type Quota = Schemas['Quota'];

const colors = { own: 'blue', borrowed: 'violet', over: 'red' } as const;

function ofWords({ tenantID, project, subject, name }: Quota): string {
  if (subject) return `${subject.split('/')[0]} ${name || subject}`;
  return project ? `project ${project}` : `tenant ${tenantID}`;
}

function scopeOf({ tenantID, project, subject }: Quota) {
  return Object.fromEntries(Object.entries({ tenantID, project, subject }).filter(([, value]) => value !== ''));
}

function limitsField(quota?: Quota): FormField {
  return {
    name: 'limits', label: 'Limits', kind: 'words', required: true, values: ['gpus=8', 'cpu=64', 'memory=512Gi', 'volumes=2Ti', 'instances=20'],
    placeholder: 'gpus=8,guaranteed=2', initial: quota?.limits.map(limitText),
    help: 'RESOURCE=LIMIT, of a project also with a guaranteed part. Enter ends one. Resources that are not named are not limited. A class of GPUs: gpus:H100=4.',
  };
}

/** The words of the form as limits. A comma within a limit belongs to it. */
function shapeLimits(body: Record<string, unknown>): Record<string, unknown> {
  const texts = (body.limits as string[] | undefined) ?? [];
  const joined = texts.reduce<string[]>((all, text) => (text.startsWith('guaranteed=') && all.length > 0 ? [...all.slice(0, -1), `${all.at(-1)},${text}`] : [...all, text]), []);
  return { ...body, limits: joined.map(limitOf) satisfies Limit[] };
}

const change: Deed<Quota> = {
  label: 'Change',
  method: 'PUT',
  path: '/v1/quotas',
  body: (quota) => ({ ...scopeOf(quota), ifVersion: quota.version }),
  permission: 'quota.write',
  command: 'quota set',
  plan: (quota) => `These limits of ${ofWords(quota)} replace the present ones. What runs keeps running, also beyond a lower limit.`,
  fields: (quota) => [limitsField(quota)],
  shape: shapeLimits,
  done: 'The quota is set.',
};

const remove: Deed<Quota> = {
  label: 'Delete',
  method: 'DELETE',
  path: '/v1/quotas',
  query: scopeOf,
  permission: 'quota.write',
  command: 'quota delete',
  plan: (quota) => `What the quota of ${ofWords(quota)} limits is limited no longer. Wider quotas still count.`,
  confirmName: ({ tenantID, project, subject }) => subject || project || tenantID,
  done: 'The quota is deleted.',
  danger: true,
};

function UseBar({ use }: { use: Quota['limits'][number] }) {
  const shares = sharesOf(use);
  const parts = [
    { label: shares.guaranteed > 0 ? 'guaranteed' : 'used', value: shares.own, color: shares.over ? colors.over : colors.own },
    ...(shares.borrowed > 0 ? [{ label: 'borrowed', value: shares.borrowed, color: shares.over ? colors.over : colors.borrowed }] : []),
  ];
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text fz="sm" fw={600}>{use.resource}</Text>
        <Group gap="xs">
          {shares.over && <Badge color="red" variant="light" size="sm" tt="none">over the limit</Badge>}
          {shares.guaranteed > 0 && <Text fz="xs" c="dimmed">{use.guaranteed} guaranteed</Text>}
          <Text fz="sm" className="number">{use.used} of {use.limit}</Text>
        </Group>
      </Group>
      <Bar parts={parts} of={shares.limit} label={`${use.resource} used`} words={() => `${use.used} of ${use.limit}`} />
    </div>
  );
}

function QuotaTile({ quota }: { quota: Quota }) {
  const place = () => ({ tenantID: quota.tenantID, project: quota.project });
  const actions = (
    <Group gap="xs">
      <Action deed={change} item={quota} kinds={['quota']} place={place} />
      <Action deed={remove} item={quota} kinds={['quota']} place={place} />
    </Group>
  );
  return (
    <Section title={ofWords(quota)} actions={actions}>
      {(quota.project || quota.subject) && <Text fz="sm" c="dimmed" mb="sm">in tenant {quota.tenantID}</Text>}
      <Stack gap="md">{quota.limits.map((use) => <UseBar key={use.resource} use={use} />)}</Stack>
    </Section>
  );
}

function NewQuota() {
  const permitted = usePermission('quota.write');
  const [opened, dialog] = useDisclosure(false);
  if (!permitted) return null;
  return (
    <>
      <Button onClick={dialog.open}>Set a quota</Button>
      <Modal opened={opened} onClose={dialog.close} title="Set a quota" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <ResourceForm
          fields={[
            { ...projectField, help: 'Without a project and a person: of the whole tenant.' },
            { name: 'subject', label: 'Person or service account', placeholder: 'user/ann@example.com', help: 'In all projects of the tenant.' },
            limitsField(),
            { ...tenantField, more: false },
          ]}
          method="PUT"
          path="/v1/quotas"
          command="quota set"
          submit="Set"
          done="The quota is set."
          kinds={['quota']}
          shape={shapeLimits}
          onDone={dialog.close}
          plan={() => 'It replaces the present limits of the same tenant, project or person. What runs keeps running.'}
        />
      </Modal>
    </>
  );
}

function QuotaTiles() {
  const list = useList('/v1/quotas', { limit: 200 }, { kinds: ['quota', 'instance', 'volume'] });
  if (!list.data) return list.error ? <Refusal problem={list.error} retry={() => void list.refetch()} /> : <Loading />;
  const quotas = list.data.pages.flatMap((page) => page.items);
  if (quotas.length === 0)
    return <Empty text="A quota limits what a tenant, a project or a person uses at once: GPUs, CPU, memory, volumes, instances." action={<NewQuota />} command="hostler quota set gpus=8 memory=512Gi" />;
  return (
    <>
      <Legend parts={[{ label: 'used, or used of the guaranteed part', color: colors.own }, { label: 'borrowed', color: colors.borrowed }, { label: 'over the limit', color: colors.over }]} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {quotas.map((quota) => <QuotaTile key={`${quota.tenantID}/${quota.project}/${quota.subject}`} quota={quota} />)}
      </SimpleGrid>
      {list.hasNextPage && <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>More</Button>}
    </>
  );
}

export default function QuotasPage() {
  return (
    <PageFrame title="Quotas" lead="Limits of what is used at once, and what is used of them." actions={<NewQuota />}>
      <QuotaTiles />
    </PageFrame>
  );
}
