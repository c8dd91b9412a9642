// Receivers of alerts: webhooks, mail, Alertmanagers.
import { Alert } from '@mantine/core';
import { CircleCheck, CircleX } from 'lucide-react';
import type { Schemas } from '../../api/client';
import { type FormField, resource } from '../../parts/resource';
import { StateBadge } from '../../parts/state_badge';
import { Ago } from '../../parts/values';
import { durationText } from '../../parts/words';
import { durationWord, ofTenant, tenantField } from './fields';
import { alertLinks } from './links';

type Receiver = Schemas['AlertReceiver'];

function Delivery({ receiver }: { receiver: Receiver }) {
  if (receiver.waiting > 0) return <StateBadge state={`${receiver.waiting} waiting`} tone="warn" reason={receiver.lastError} />;
  if (receiver.lastError) return <StateBadge state="last failed" tone="bad" reason={receiver.lastError} />;
  return receiver.deliveredAt ? <StateBadge state="delivered" /> : <StateBadge state="unused" tone="off" />;
}

function addressFields(receiver?: Receiver): FormField[] {
  return [
    { name: 'type', label: 'Type', kind: 'choice', required: true, values: ['webhook', 'email', 'alertmanager'], initial: receiver?.type ?? 'webhook' },
    { name: 'url', label: 'Address', required: true, placeholder: 'https://hooks.example.com/hostler', help: 'https://HOST/PATH; for mail smtp://HOST:587 or smtps://HOST:465; of an Alertmanager without /api/v2.', initial: receiver?.url },
    { name: 'secret', label: 'Secret', kind: 'secret', help: `Webhook: key of the signature. Alertmanager: token. Mail: password.${receiver?.hasSecret ? ' Left empty, the present one stays.' : ''}` },
    { name: 'to', label: 'Mail: recipients', kind: 'words', placeholder: 'ops@example.com', initial: receiver?.to },
    { name: 'from', label: 'Mail: sender', placeholder: 'hostler@example.com', initial: receiver?.from },
    { name: 'user', label: 'Mail: user name', initial: receiver?.user },
    { name: 'severity', label: 'Lowest severity', kind: 'choice', values: ['info', 'warning', 'critical'], initial: receiver?.severity ?? 'info' },
  ];
}

function furtherFields(receiver?: Receiver): FormField[] {
  return [
    { name: 'where', label: 'Only alerts with these labels', kind: 'words', placeholder: 'zone=lon|nj', initial: receiver?.where, more: true },
    { name: 'groupBy', label: 'Labels that make one message of several alerts', kind: 'words', initial: receiver?.groupBy, more: true },
    { name: 'groupWaitSeconds', label: 'The first alert of a group waits', kind: 'duration', initial: durationWord(receiver?.groupWaitSeconds), more: true },
    { name: 'groupIntervalSeconds', label: 'Least time between two messages', kind: 'duration', initial: durationWord(receiver?.groupIntervalSeconds), more: true },
    { name: 'repeatSeconds', label: 'Send again after', kind: 'duration', initial: durationWord(receiver?.repeatSeconds), more: true },
    { name: 'firingOnly', label: 'No message when an alert ends', kind: 'flag', initial: receiver?.firingOnly, more: true },
    { name: 'plain', label: 'Mail without TLS, and so without a login', kind: 'flag', initial: receiver?.plain, more: true },
  ];
}

const receiverFields = (receiver?: Receiver) => [...addressFields(receiver), ...furtherFields(receiver)];

function Tested({ result }: { result: Schemas['TestedAlertReceiver'] }) {
  return (
    <Alert color={result.delivered ? 'green' : 'red'} icon={result.delivered ? <CircleCheck aria-hidden /> : <CircleX aria-hidden />} role="status"
      title={result.delivered ? 'The message was delivered.' : 'The message was not delivered.'}>
      {result.message}
    </Alert>
  );
}

export const receivers = resource('/v1/alert-receivers', {
  noun: 'receiver',
  title: 'Receivers',
  page: '/receivers',
  kinds: ['receiver'],
  permission: 'alert.read',
  id: ({ name }) => name,
  rowKey: ({ tenantID, name }) => `${tenantID}/${name}`,
  name: ({ name }) => name,
  place: ({ tenantID }) => ({ tenantID }),
  above: alertLinks,
  columns: [
    { key: 'name', title: 'Name', value: ({ name }) => name },
    { key: 'type', title: 'Type', value: ({ type }) => type, width: '130px' },
    { key: 'url', title: 'Address', value: ({ url, to }) => (to?.length ? to.join(' ') : url) },
    { key: 'severity', title: 'From', value: ({ severity }) => severity, width: '100px' },
    { key: 'delivery', title: 'Delivery', value: ({ waiting }) => waiting, cell: (receiver) => <Delivery receiver={receiver} />, width: '140px' },
    { key: 'of', title: 'Of', value: ({ tenantID }) => tenantID || 'the operator', width: '130px', wideOnly: true },
  ],
  empty: { text: 'A receiver gets a message when an alert fires or ends.', command: 'hostler alert receiver create ops --type webhook --url https://hooks.example.com/hostler' },
  create: {
    label: 'New receiver',
    path: '/v1/alert-receivers',
    permission: 'alert.write',
    command: 'alert receiver create',
    argument: 'name',
    fields: [{ name: 'name', label: 'Name', required: true, placeholder: 'ops' }, ...receiverFields(), tenantField],
    done: 'The receiver is made. Send it a test message.',
    then: ({ name, tenantID }) => `/receivers/${String(name)}${tenantID ? `?tenantID=${String(tenantID)}` : ''}`,
  },
  actions: [
    {
      label: 'Test',
      method: 'POST',
      path: '/v1/alert-receivers/{receiver}/test',
      params: ({ name }) => ({ receiver: name }),
      body: ofTenant,
      permission: 'alert.write',
      command: 'alert receiver test',
      plan: ({ url }) => `A test message is sent to ${url}.`,
      done: 'The test is done.',
      answer: (result) => <Tested result={result as Schemas['TestedAlertReceiver']} />,
      noDryRun: true,
    },
    {
      label: 'Replace',
      method: 'PUT',
      path: '/v1/alert-receivers/{receiver}',
      params: ({ name }) => ({ receiver: name }),
      body: ofTenant,
      permission: 'alert.write',
      command: 'alert receiver replace',
      plan: () => 'All settings are replaced by these. The secret stays, if type, address and user stay.',
      fields: receiverFields,
      done: 'The receiver is replaced.',
    },
    {
      label: 'Delete',
      method: 'DELETE',
      path: '/v1/alert-receivers/{receiver}',
      params: ({ name }) => ({ receiver: name }),
      query: ofTenant,
      permission: 'alert.write',
      command: 'alert receiver delete',
      plan: ({ name, waiting }) => `${name} no longer gets messages${waiting > 0 ? `; ${waiting} that wait are dropped` : ''}.`,
      confirmName: ({ name }) => name,
      done: 'The receiver is deleted.',
      danger: true,
    },
  ],
  rowActions: ['Test'],
  detail: {
    path: '/v1/alert-receivers/{receiver}',
    param: 'receiver',
    badges: (receiver) => <Delivery receiver={receiver} />,
    facts: (receiver) => [
      { name: 'Type', value: receiver.type },
      { name: 'Address', value: receiver.url },
      ...(receiver.type === 'email' ? [{ name: 'Recipients', value: receiver.to?.join(', ') }, { name: 'Sender', value: receiver.from }] : []),
      { name: 'Secret', value: receiver.hasSecret ? 'set' : 'none' },
      { name: 'Lowest severity', value: receiver.severity },
      { name: 'Only alerts with', value: receiver.where?.join(' ') || 'any labels' },
      { name: 'One message for the same', value: receiver.groupBy?.join(', ') },
      { name: 'Sent again after', value: durationText(receiver.repeatSeconds) },
      { name: 'Delivered', value: receiver.delivered },
      { name: 'Failed attempts', value: receiver.failed },
      { name: 'Last delivery', value: receiver.deliveredAt ? <Ago time={receiver.deliveredAt} /> : undefined },
      { name: 'Last error', value: receiver.lastError },
    ],
  },
});
