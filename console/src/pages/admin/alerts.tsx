// Alerts that fire, and those that have ended a moment ago.
import { Badge, Code, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client';
import { useList } from '../../api/use_read';
import { Section } from '../../parts/page_frame';
import { type Deed, resource } from '../../parts/resource';
import { StateBadge, type Tone } from '../../parts/state_badge';
import { Ago } from '../../parts/values';
import { alertLinks } from './links';

type Alert = Schemas['Alert'];
type Severity = Schemas['Severity'];

const tones: Record<Severity, Tone> = { critical: 'bad', warning: 'warn', info: 'off' };

export function SeverityBadge({ severity }: { severity: Severity }) {
  return <StateBadge state={severity} tone={tones[severity]} />;
}

function AlertState({ alert }: { alert: Alert }) {
  return (
    <Group gap={4} wrap="nowrap">
      <StateBadge state={alert.state} tone={alert.state === 'firing' ? 'bad' : 'ok'} />
      {alert.isSilenced && <Badge variant="outline" color="gray" tt="none">silenced</Badge>}
    </Group>
  );
}

/** Labels that a silence of this alert has to match. A value with | would stand for several. */
function matchersOf({ rule, labels }: Pick<Alert, 'rule' | 'labels'>): string[] {
  const others = Object.entries(labels).filter(([name, value]) => name !== 'alertname' && value !== '' && !/[|,]/.test(value));
  return [`alertname=${rule}`, ...others.map(([name, value]) => `${name}=${value}`)];
}

const silence: Deed<Alert> = {
  label: 'Silence',
  method: 'POST',
  path: '/v1/silences',
  permission: 'alert.write',
  command: 'alert silence create',
  plan: () => 'No messages are sent for alerts with all these labels until the time is over. They stay in the list. A silence can be ended early.',
  fields: (alert) => [
    { name: 'matchers', label: 'Labels', kind: 'words', required: true, initial: matchersOf(alert), help: 'Take some out to silence more alerts.' },
    { name: 'forSeconds', label: 'For', kind: 'duration', required: true, initial: '2h' },
    { name: 'comment', label: 'Why', required: true, placeholder: 'cooling is being serviced' },
  ],
  done: 'The alert is silenced.',
  when: ({ isSilenced, state }) => !isSilenced && state === 'firing',
};

function Pending() {
  const rules = useList('/v1/alert-rules', { limit: 200 }, { kinds: ['alert-rule'], every: 30_000 });
  const pending = (rules.data?.pages ?? []).flatMap((page) => page.items).filter((rule) => rule.pending > 0);
  if (pending.length === 0) return null;
  return (
    <Text fz="sm">
      Not long enough yet to fire:{' '}
      {pending.map((rule) => <Link key={`${rule.tenantID}/${rule.name}`} className="plain" href={`/alert-rules/${rule.name}`}>{rule.pending} of {rule.name} </Link>)}
    </Text>
  );
}

export const alerts = resource('/v1/alerts', {
  noun: 'alert',
  title: 'Alerts',
  page: '/alerts',
  kinds: ['alert', 'silence'],
  permission: 'alert.read',
  id: ({ id }) => id,
  name: ({ summary }) => summary,
  place: ({ tenantID }) => ({ tenantID }),
  above: () => (
    <>
      {alertLinks()}
      <Pending />
    </>
  ),
  columns: [
    { key: 'summary', title: 'What', value: ({ summary }) => summary, width: '36%' },
    { key: 'severity', title: 'Severity', value: ({ severity }) => severity, cell: ({ severity }) => <SeverityBadge severity={severity} />, width: '120px' },
    { key: 'state', title: 'State', value: ({ state, isSilenced }) => `${state}${isSilenced ? ' silenced' : ''}`, cell: (alert) => <AlertState alert={alert} />, width: '170px' },
    { key: 'rule', title: 'Rule', value: ({ rule }) => rule, width: '180px', wideOnly: true },
    { key: 'fired', title: 'Since', value: ({ firedAt }) => firedAt, cell: ({ firedAt }) => <Ago time={firedAt} />, width: '120px' },
    { key: 'tenant', title: 'Tenant', value: ({ tenantID }) => tenantID, width: '110px', wideOnly: true },
  ],
  filters: [{ name: 'severity', label: 'Severity', values: ['info', 'warning', 'critical'] }, { name: 'rule', label: 'Rule' }],
  empty: { text: 'Nothing needs attention now. Rules say what makes an alert, receivers who hears of it.', command: 'hostler alert rule list' },
  actions: [silence],
  rowActions: ['Silence'],
  detail: {
    path: '/v1/alerts/{alert}',
    param: 'alert',
    query: () => ({}),
    badges: (alert) => <><SeverityBadge severity={alert.severity} /><AlertState alert={alert} /></>,
    facts: (alert) => [
      { name: 'Rule', value: <Link className="plain" href={`/alert-rules/${alert.rule}`}>{alert.rule}</Link> },
      { name: 'Value', value: Number(alert.value.toPrecision(6)) },
      { name: 'Fires since', value: <Ago time={alert.firedAt} /> },
      ...(alert.resolvedAt ? [{ name: 'Ended', value: <Ago time={alert.resolvedAt} /> }] : []),
      { name: 'Tenant', value: alert.tenantID || 'the operator' },
      { name: 'Told', value: alert.told.join(', ') || 'no receiver' },
      ...Object.entries(alert.labels).map(([name, value]) => ({ name, value: <Code>{value}</Code> })),
    ],
    sections: (alert) => alert.runbook && <Section title="What to do"><Text>{alert.runbook}</Text></Section>,
  },
});
