// The parts of the cloud, who signs their certificates, and what seals secrets in the store.
import { Alert, Group, Progress, Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { Schemas } from '../../api/client';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Action } from '../../parts/action';
import { PageFrame, Section } from '../../parts/page_frame';
import type { Deed } from '../../parts/resource';
import { StateBadge, type Tone } from '../../parts/state_badge';
import { AsyncView } from '../../parts/states';
import { Ago, Bytes, Id } from '../../parts/values';
import { SmallTable } from './small_table';

type Authorities = Schemas['Authorities'];
type SealingKeys = Schemas['SealingKeys'];

const every = 30_000;
const tones: Record<string, Tone> = { issuing: 'ok', current: 'ok', next: 'busy', outgoing: 'warn', former: 'off', withdrawn: 'off', forgotten: 'off' };

type Component = Schemas['Component'];

/** In the order of the table. Authorities have a section with what can be done to them. */
const kinds: [Component['kind'], string][] = [
  ['master', 'master'], ['gateway', 'gateway'], ['access', 'access point'], ['store', 'store'], ['series', 'series store'],
];
const kindNames = new Map(kinds);

const componentTones: Partial<Record<Component['state'], Tone>> = { leading: 'ok', standby: 'ok', behind: 'warn', full: 'bad' };

function ComponentTable({ all }: { all: Component[] }) {
  const rows = kinds.flatMap(([kind]) => all.filter((one) => one.kind === kind));
  return (
    <SmallTable
      label="Parts of the cloud"
      rows={rows}
      id={({ kind, id }) => `${kind} ${id}`}
      columns={[
        { title: 'Kind', cell: ({ kind }) => kindNames.get(kind) },
        { title: 'Name', cell: ({ id }) => id },
        { title: 'State', cell: ({ state }) => <StateBadge state={state} tone={componentTones[state]} /> },
        { title: 'Address', cell: ({ address }) => address && <Id value={address} /> },
        { title: 'Version', cell: ({ version }) => version },
        { title: 'Since', cell: ({ since }) => since && <Ago time={since} /> },
        { title: 'Last heard of', cell: ({ seenAt, state }) => (seenAt ? <Ago time={seenAt} /> : state !== 'down' && 'now') },
        { title: 'Details', cell: (one) => <Details {...one} /> },
      ]}
    />
  );
}

function Details({ zone, message, sizeBytes, expiresAt }: Component) {
  return (
    <Text fz="sm" component="span">
      {[zone && `zone ${zone}`, message, expiresAt && `certificate until ${new Date(expiresAt).toLocaleDateString()}`].filter(Boolean).join(', ')}
      {sizeBytes !== undefined && <> (<Bytes value={sizeBytes} />)</>}
    </Text>
  );
}

function PartsSection() {
  const query = useRead('/v1/components', { query: { limit: 1000 } }, { kinds: ['access-point'], every: 10_000 });
  return (
    <Section title="Parts of the cloud">
      <AsyncView query={query}>
        {({ items }) => <ComponentTable all={items} />}
      </AsyncView>
    </Section>
  );
}

type Step<T> = Pick<Deed<T>, 'label' | 'plan' | 'done'> & Partial<Deed<T>>;

const rotation = (step: string, rest: Step<Authorities>): Deed<Authorities> => ({
  method: 'POST', path: '/v1/authorities/rotate', permission: 'authority.write', command: 'ca rotate', body: () => ({ step }), ...rest,
});

const has = (state: string) => ({ authorities }: Authorities) => authorities.some((one) => one.state === state);

const rotations: Deed<Authorities>[] = [
  rotation('begin', {
    label: 'Begin a rotation',
    plan: () => 'Another authority is created, and all parts trust it, too. Nothing else changes until it issues.',
    done: 'Another authority is trusted.',
    when: (all) => !has('next')(all) && !has('outgoing')(all),
  }),
  rotation('issue', {
    label: 'Let the next one issue',
    plan: (all) => `The next authority signs from now on, and holders renew by themselves. ${all.current} of ${all.holders} trust it.`,
    done: 'The next authority signs.',
    when: has('next'),
  }),
  rotation('withdraw', {
    label: 'Withdraw the former one',
    plan: (all) => `The former authority is no longer trusted. ${all.renewed} of ${all.holders} holders have another certificate; those that lack one must join again.`,
    fields: [{ name: 'force', label: 'Even from holders without another certificate', kind: 'flag' }],
    confirmName: () => 'withdraw',
    done: 'The former authority is withdrawn.',
    danger: true,
    when: has('outgoing'),
  }),
  {
    label: 'Admit a key',
    method: 'POST',
    path: '/v1/authorities/admit',
    permission: 'authority.write',
    command: 'ca admit',
    plan: () => 'An access point or gateway whose key is unknown gets a certificate when it presents this key.',
    fields: [
      { name: 'name', label: 'Holder', required: true, placeholder: 'access/nj-1' },
      { name: 'keyFingerprint', label: 'SHA-256 of its public key', required: true, help: '64 lower-case hex digits.' },
    ],
    done: 'The key is admitted.',
  },
];

function Renewal({ all }: { all: Authorities }) {
  if (all.holders === 0) return <Text c="dimmed" fz="sm">Holders are counted from the first rotation on.</Text>;
  return (
    <Stack gap={4}>
      <Text fz="sm">{all.renewed} of {all.holders} holders have a certificate of the issuing authority; {all.current} trust the right ones.</Text>
      <Progress value={(100 * all.current) / all.holders} aria-label="Holders that are current" />
    </Stack>
  );
}

function AuthorityTable({ all }: { all: Authorities }) {
  return (
    <SmallTable
      label="Authorities"
      rows={all.authorities}
      id={({ fingerprint }) => fingerprint}
      columns={[
        { title: 'State', cell: ({ state }) => <StateBadge state={state} tone={tones[state]} /> },
        { title: 'Subject', cell: ({ subject }) => subject },
        { title: 'Fingerprint', cell: ({ fingerprint }) => <Id value={fingerprint} /> },
        { title: 'Valid until', cell: ({ notAfter }) => notAfter && new Date(notAfter).toLocaleDateString() },
        { title: 'In this state since', cell: ({ since }) => since && <Ago time={since} /> },
      ]}
    />
  );
}

function AuthoritySection() {
  const query = useRead('/v1/authorities', {}, { kinds: ['authority'], every });
  return (
    <Section
      title="Certificate authorities"
      actions={query.data && <Group gap="xs">{rotations.map((deed) => <Action key={deed.label} deed={deed} item={query.data} kinds={['authority']} />)}</Group>}
    >
      <AsyncView query={query}>
        {(all) => (
          <Stack gap="md">
            <AuthorityTable all={all} />
            <Renewal all={all} />
            {all.behind.length > 0 && (
              <SmallTable
                label="Holders that are behind"
                rows={all.behind}
                id={({ name, message }) => name + message}
                columns={[{ title: 'Behind', cell: ({ name }) => name }, { title: 'Missing step', cell: ({ message }) => message }]}
              />
            )}
          </Stack>
        )}
      </AsyncView>
    </Section>
  );
}

const sealing = (step: string, rest: Step<SealingKeys>): Deed<SealingKeys> => ({
  method: 'POST', path: '/v1/sealing-keys/rotate', permission: 'sealing.write', command: 'seal rotate', body: () => ({ step }), ...rest,
});

const hasNext = ({ keys }: SealingKeys) => keys.some(({ state }) => state === 'next');

const sealings: Deed<SealingKeys>[] = [
  sealing('begin', {
    label: 'Begin a rotation',
    plan: () => 'Another key is created. It seals nothing until you finish, once all masters have it. Make a backup of the keys then.',
    done: 'Another key is created.',
    when: (all) => !hasNext(all),
  }),
  sealing('finish', {
    label: 'Finish the rotation',
    plan: () => 'The next key seals from now on, and all secrets are sealed again by it.',
    confirmName: () => 'finish',
    done: 'The next key seals.',
    when: hasNext,
  }),
];

const forget: Deed<Schemas['SealingKey']> = {
  label: 'Forget',
  method: 'POST',
  path: '/v1/sealing-keys/{sealingKey}/forget',
  params: ({ id }) => ({ sealingKey: id }),
  permission: 'sealing.write',
  command: 'seal forget',
  plan: ({ id, values }) => `The key ${id} is forgotten; ${values} secrets of the store are sealed by it. Older backups that need it cannot be opened without a copy of the key.`,
  confirmName: ({ id }) => id,
  done: 'The key is forgotten.',
  when: ({ state }) => state === 'former',
  danger: true,
};

function SealingSection() {
  const query = useRead('/v1/sealing-keys', {}, { kinds: ['sealing-key'], every });
  return (
    <Section
      title="Sealing keys"
      actions={query.data && <Group gap="xs">{sealings.map((deed) => <Action key={deed.label} deed={deed} item={query.data} kinds={['sealing-key']} />)}</Group>}
    >
      <AsyncView query={query}>
        {(all) => (
          <Stack gap="md">
            {all.message && <Alert color="orange" icon={<TriangleAlert aria-hidden />}>{all.message}</Alert>}
            <SmallTable
              label="Sealing keys"
              rows={all.keys}
              id={({ id }) => id}
              columns={[
                { title: 'State', cell: ({ state }) => <StateBadge state={state} tone={tones[state]} /> },
                { title: 'Id', cell: ({ id }) => <Id value={id} /> },
                { title: 'Secrets sealed', cell: ({ values }) => (all.countedAt ? String(values) : '') },
                { title: 'At the leading master', cell: ({ here }) => (here ? 'present' : 'missing') },
                { title: 'Since', cell: ({ since }) => <Ago time={since} /> },
                { title: 'Actions', cell: (key) => <Action deed={forget} item={key} kinds={['sealing-key']} button={{ size: 'compact-xs' }} /> },
              ]}
            />
            <Text fz="sm" c="dimmed">
              {all.countedAt ? <>Counted <Ago time={all.countedAt} />: {all.whole ? 'all secrets are sealed by the current key.' : 'some secrets are sealed by a former key.'}</> : 'The secrets are not counted yet.'}
            </Text>
          </Stack>
        )}
      </AsyncView>
    </Section>
  );
}

export default function ComponentsPage() {
  const parts = usePermission('access.read');
  const authorities = usePermission('authority.read');
  const keys = usePermission('sealing.read');
  return (
    <PageFrame title="Components" lead="The parts of the cloud as the leading master knows them, who signs their certificates, and what seals secrets in the store.">
      {parts && <PartsSection />}
      {authorities && <AuthoritySection />}
      {keys && <SealingSection />}
    </PageFrame>
  );
}
