// The audit: changes and refused calls, the newest first.
import { Button, Code, Stack, Title } from '@mantine/core';
import { resource } from '../../parts/resource';
import { useRowDialog } from '../../parts/row_dialog';
import { StateBadge, type Tone } from '../../parts/state_badge';
import { Ago, Facts, Id } from '../../parts/values';
import type { Entry } from './audit_export';
import { AuditTools } from './audit_tools';

const tones: Record<Entry['result'], Tone> = { ok: 'ok', denied: 'warn', failed: 'bad' };

/** JSON of an object with line breaks; other text as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Json({ title, text }: { title: string; text: string }) {
  if (!text) return null;
  return (
    <div>
      <Title order={3} fz="sm" mb={4}>{title}</Title>
      <Code block className="line" mah={280} tabIndex={0}>{readable(text)}</Code>
    </div>
  );
}

function EntryFacts({ entry }: { entry: Entry }) {
  return (
    <Facts
      facts={[
        { name: 'Time', value: new Date(entry.time).toLocaleString() },
        { name: 'Caller', value: entry.actor },
        { name: 'Operation', value: entry.operation },
        { name: 'Object', value: entry.subject },
        { name: 'Answer', value: `${entry.status}${entry.reason ? ` ${entry.reason}` : ''}` },
        { name: 'Address', value: entry.withheld ? 'not shown to you' : entry.address },
        { name: 'Program', value: entry.withheld ? 'not shown to you' : entry.client },
        { name: 'Tenant and project', value: [entry.tenantID, entry.project].filter(Boolean).join(' / ') },
        { name: 'Place in the chain', value: entry.position || undefined },
        { name: 'Hash', value: <Id value={entry.hash} /> },
      ]}
    />
  );
}

function Details({ entry }: { entry: Entry }) {
  const open = useRowDialog();
  const content = () => (
    <Stack>
      <EntryFacts entry={entry} />
      <Json title="Before" text={entry.before} />
      <Json title={entry.result === 'ok' ? 'After' : 'Refusal'} text={entry.after} />
    </Stack>
  );
  return <Button size="compact-xs" variant="default" onClick={() => open?.({ title: `${entry.operation} by ${entry.actor}`, size: 'xl', content })}>Details</Button>;
}

export const audit = resource('/v1/audit', {
  noun: 'record',
  title: 'Audit records',
  page: '/audit',
  kinds: [],
  queryExample: false,
  permission: 'audit.read',
  id: ({ number, line }) => `${number}.${line}`,
  name: ({ operation }) => operation,
  lead: 'Changes through the API and refused calls, the newest first.',
  above: () => <AuditTools />,
  columns: [
    { key: 'time', title: 'Time', value: ({ time }) => time, cell: ({ time }) => <Ago time={time} />, width: '130px' },
    { key: 'actor', title: 'Caller', value: ({ actor }) => actor },
    { key: 'operation', title: 'Operation', value: ({ operation }) => operation },
    { key: 'subject', title: 'Object', value: ({ subject }) => subject },
    { key: 'result', title: 'Result', value: ({ result }) => result, cell: ({ result, reason }) => <StateBadge state={result} reason={reason} tone={tones[result]} />, width: '110px' },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '120px', wideOnly: true },
    { key: 'address', title: 'Address', value: ({ address }) => address, width: '150px', wideOnly: true },
    { key: '', title: 'More', value: () => undefined, cell: (entry) => <Details entry={entry} />, width: '100px', align: 'right' },
  ],
  filters: [
    { name: 'since', label: 'Since', values: [{ value: '3600', label: 'last hour' }, { value: '86400', label: 'last day' }, { value: '604800', label: 'last 7 days' }, { value: '2592000', label: 'last 30 days' }] },
    { name: 'actor', label: 'Caller' },
    { name: 'operation', label: 'Operation' },
    { name: 'subject', label: 'Object' },
    { name: 'result', label: 'Result', values: ['ok', 'denied', 'failed'] },
    { name: 'project', label: 'Project' },
  ],
  empty: { text: 'Every change through the API and every refused call leaves a record here.', command: 'hostler audit list' },
});
