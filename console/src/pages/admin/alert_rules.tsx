// Alert rules: the default ones and those of the tenant.
import { Alert, Badge, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type Schemas, send } from '../../api/client';
import type { Problem } from '../../api/problem';
import { type FormField, resource } from '../../parts/resource';
import { SmallList } from '../../parts/small_list';
import { Section } from '../../parts/page_frame';
import { StateBadge } from '../../parts/state_badge';
import { Refusal } from '../../parts/states';
import type { Write } from '../../parts/use_deed';
import { Ago } from '../../parts/values';
import { durationText } from '../../parts/words';
import { alerts, SeverityBadge } from './alerts';
import { durationWord, ofTenant, tenantField } from './fields';
import { alertLinks } from './links';

type Rule = Schemas['AlertRule'];

const signs = { above: '>', at_least: '≥', below: '<', at_most: '≤' } as const;

/** "max of utilisation_percent over 10 min < 1 for 50 min" */
export function conditionWords(rule: Rule): string {
  const over = rule.over && rule.over !== 'last' ? `${rule.over} of ` : '';
  const window = over && rule.windowSeconds ? ` over ${durationText(rule.windowSeconds)}` : '';
  const across = rule.across && rule.across !== 'none' ? `${rule.across} across ${rule.by?.join(', ') || 'all'} of ` : '';
  const held = rule.forSeconds ? ` for ${durationText(rule.forSeconds)}` : '';
  return `${across}${over}${rule.metric}${window} ${signs[rule.comparison ?? 'above']} ${rule.threshold}${held}`;
}

function Standing({ rule }: { rule: Rule }) {
  if (rule.error) return <StateBadge state="error" reason={rule.error} />;
  if (rule.disabled) return <StateBadge state="disabled" />;
  if (rule.firing > 0) return <StateBadge state={`${rule.firing} firing`} tone="bad" />;
  return rule.pending > 0 ? <StateBadge state={`${rule.pending} pending`} tone="busy" /> : <StateBadge state="quiet" tone="ok" />;
}

const over = ['last', 'avg', 'min', 'max', 'sum', 'increase', 'rate'];
const across = ['none', 'sum', 'avg', 'min', 'max', 'count'];

function conditionFields(rule?: Rule): FormField[] {
  return [
    { name: 'metric', label: 'Metric', required: true, placeholder: 'temperature_celsius', help: 'Of the series, or of the moment (docs/operate/alerts.md).', initial: rule?.metric },
    { name: 'comparison', label: 'Comparison', kind: 'choice', required: true, values: Object.keys(signs), initial: rule?.comparison ?? 'above' },
    { name: 'threshold', label: 'Threshold', kind: 'number', decimal: true, required: true, help: 'In the unit of the metric.', initial: rule?.threshold },
    { name: 'forSeconds', label: 'Fires after', kind: 'duration', initial: durationWord(rule?.forSeconds ?? 60), help: 'So long the breach must last.' },
    { name: 'severity', label: 'Severity', kind: 'choice', required: true, values: ['info', 'warning', 'critical'], initial: rule?.severity ?? 'warning' },
    { name: 'where', label: 'Only devices with these labels', kind: 'words', placeholder: 'zone=lon|nj', initial: rule?.where },
  ];
}

function furtherFields(rule?: Rule): FormField[] {
  return [
    { name: 'over', label: 'Function over the window', kind: 'choice', values: over, initial: rule?.over, more: true },
    { name: 'windowSeconds', label: 'Window', kind: 'duration', initial: durationWord(rule?.windowSeconds), more: true },
    { name: 'across', label: 'Function over the devices of a group', kind: 'choice', values: across, initial: rule?.across, help: 'none: each device alone.', more: true },
    { name: 'by', label: 'Labels that make the groups', kind: 'words', placeholder: 'zone', initial: rule?.by, more: true },
    { name: 'clearSeconds', label: 'Ends after', kind: 'duration', initial: durationWord(rule?.clearSeconds), help: 'So long the breach must be over.', more: true },
    { name: 'missing', label: 'When samples stop', kind: 'choice', values: ['keep', 'resolve', 'fire'], initial: rule?.missing, more: true },
    { name: 'summary', label: 'Sentence', placeholder: 'GPU {gpu} on {host} has {value} °C', help: '{label}, {value}, {threshold} and {rule} are filled in.', initial: rule?.summary, more: true },
    { name: 'runbook', label: 'Advice', kind: 'long', initial: rule?.runbook, more: true },
    { name: 'description', label: 'Purpose', initial: rule?.description, more: true },
    { name: 'labels', label: 'Further labels of its alerts', kind: 'words', placeholder: 'team=ml', initial: rule?.labels, more: true },
    { name: 'tellTenants', label: 'Tell the tenant that it concerns', kind: 'flag', initial: rule?.tellTenants, more: true },
    { name: 'disabled', label: 'Keep it without evaluating it', kind: 'flag', initial: rule?.disabled, more: true },
  ];
}

/** "would have fired 3 times in 7 days, for 2 devices or groups" */
export function wouldFireWords(told: Rule['wouldFire']): string {
  if (told?.times === undefined) return `How often it would have fired is unknown: ${told?.message ?? 'this master does not tell'}.`;
  const times = told.times === 1 ? 'once' : `${told.times} times`;
  const sets = told.times > 0 && told.labelSets !== undefined ? `, for ${told.labelSets} ${told.labelSets === 1 ? 'device or group' : 'devices or groups'}` : '';
  return `This rule would have fired ${times} in ${told.days} days${sets}.${told.message ? ` Not all was counted: ${told.message}.` : ''}`;
}

/** Asks on demand: each answer is read from the series of the last days. */
function WouldFire({ write }: { write: Write }) {
  const asked = JSON.stringify(write.call.body);
  const trial = useMutation<{ of: string; told: Rule['wouldFire'] }, Problem>({
    mutationFn: async () => {
      const rule = await send<Rule>(write.method, write.path, { ...write.call, query: { ...write.call.query, dryRun: true } });
      return { of: asked, told: rule.wouldFire };
    },
  });
  return (
    <Group>
      <Button variant="default" size="compact-sm" loading={trial.isPending} onClick={() => trial.mutate()}>Would it have fired?</Button>
      {trial.data?.of === asked && <Text fz="sm" role="status">{wouldFireWords(trial.data.told)}</Text>}
      {trial.error && <Refusal problem={trial.error} />}
    </Group>
  );
}

const ruleFields = (rule?: Rule) => [...conditionFields(rule), ...furtherFields(rule)];

export const alertRules = resource('/v1/alert-rules', {
  noun: 'rule',
  title: 'Alert rules',
  page: '/alert-rules',
  kinds: ['alert-rule', 'alert'],
  permission: 'alert.read',
  id: ({ name }) => name,
  rowKey: ({ tenantID, name }) => `${tenantID}/${name}`,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  above: alertLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'condition', title: 'Fires when', value: conditionWords, cell: (rule) => <span title={conditionWords(rule)}>{conditionWords(rule)}</span> },
    { key: 'severity', title: 'Severity', value: ({ severity }) => severity, cell: ({ severity }) => <SeverityBadge severity={severity ?? 'warning'} />, width: '120px' },
    { key: 'standing', title: 'Now', value: ({ firing, pending }) => firing * 1000 + pending, cell: (rule) => <Standing rule={rule} />, width: '130px' },
    { key: 'of', title: 'Of', value: ({ isDefault, tenantID }) => (isDefault ? 'default' : tenantID || 'the operator'), width: '130px' },
  ],
  empty: { text: 'A rule watches a metric and makes an alert when it passes a threshold.', command: 'hostler alert rule create hot --metric temperature_celsius --threshold 85' },
  create: {
    label: 'New rule',
    path: '/v1/alert-rules',
    permission: 'alert.write',
    command: 'alert rule create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'hot', help: 'The name of a default rule replaces that rule.' }, ...ruleFields(), tenantField],
    plan: (body) => <WouldFire write={{ method: 'POST', path: '/v1/alert-rules', call: { body } }} />,
    done: 'The rule is made.',
    then: ({ name, tenantID }) => `/alert-rules/${String(name)}${tenantID ? `?tenantID=${String(tenantID)}` : ''}`,
  },
  actions: [
    {
      label: 'Replace',
      method: 'PUT',
      path: '/v1/alert-rules/{alertRule}',
      params: ({ name }) => ({ alertRule: name }),
      body: ofTenant,
      permission: 'alert.write',
      command: 'alert rule replace',
      plan: ({ isDefault }) => (isDefault ? 'The default rule is replaced. Deleting the replacement brings it back.' : 'All settings are replaced by these. Alerts that no longer apply end.'),
      fields: ruleFields,
      preview: (write) => <WouldFire write={write} />,
      done: 'The rule is replaced.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/alert-rules/{alertRule}',
      params: ({ name }) => ({ alertRule: name }),
      query: ofTenant,
      permission: 'alert.write',
      command: 'alert rule delete',
      plan: ({ name }) => `The rule ${name} is deleted, and its alerts end. A replaced default rule returns to its default.`,
      confirmName: ({ name }) => name,
      done: 'The rule is deleted.',
      when: ({ isDefault }) => !isDefault,
      danger: true,
    },
  ],
  detail: {
    path: '/v1/alert-rules/{alertRule}',
    param: 'alertRule',
    badges: (rule) => <Group gap="xs"><SeverityBadge severity={rule.severity ?? 'warning'} /><Standing rule={rule} />{rule.isDefault && <Badge variant="light" color="gray" tt="none">default</Badge>}</Group>,
    facts: (rule) => [
      { name: 'Purpose', value: rule.description },
      { name: 'Fires when', value: conditionWords(rule) },
      { name: 'Only devices with', value: rule.where?.join(' ') },
      { name: 'Ends after', value: durationText(rule.clearSeconds) },
      { name: 'When samples stop', value: rule.missing },
      { name: 'Sentence', value: rule.summary },
      { name: 'Advice', value: rule.runbook },
      { name: 'Tells tenants', value: rule.tellTenants ? 'yes' : 'no' },
      { name: 'Evaluated', value: <Ago time={rule.lookedAt} /> },
    ],
    sections: (rule) => (
      <>
        {rule.error && <Alert color="red" title="The last evaluation failed">{rule.error}</Alert>}
        <Section title="Its alerts"><SmallList kind={alerts} query={{ rule: rule.name }} without={['rule']} empty="None fires." /></Section>
      </>
    ),
  },
});
