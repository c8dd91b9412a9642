// Fields and body of a start, by what was chosen.
import { randomName, type Schemas } from '../../api/client';
import { bodyOf, initialValues, type Values } from '../../parts/form_values';
import type { FormField } from '../../parts/resource';
import { durationText, moneyText } from '../../parts/words';

type Offer = Schemas['Offer'];
type Template = Schemas['InstanceTemplate'];
type Plan = Schemas['InstancePlan'];

export const lastTenant = 'hostler-tenant';

export const rememberTenant = (tenant: string) => localStorage.setItem(lastTenant, tenant);

const parameterKinds: Record<string, FormField['kind']> = { integer: 'number', secret: 'secret', choice: 'choice', boolean: 'choice' };

function parameterField({ name, type, help, required, choices, ...one }: Schemas['TemplateParameter']): FormField {
  const values = type === 'boolean' ? ['true', 'false'] : choices;
  return { name: `parameters.${name}`, label: name, kind: parameterKinds[type] ?? 'text', help, required, values, initial: one.default, more: !required };
}

const imageFields: FormField[] = [
  { name: 'image', label: 'Image', required: true, placeholder: 'docker.io/library/nginx:1.27' },
  { name: 'port', label: 'Port', kind: 'number', help: 'It gets a URL, and counts as running once the port answers.' },
  { name: 'template.cmd', label: 'Command', help: "Absent: the image's.", more: true },
];

/** `asksTenant`: an operator starts for a tenant. */
export function fieldsOf(template: Template | undefined, asksTenant: boolean): FormField[] {
  return [
    { name: 'instanceID', label: 'Name', required: true },
    ...(asksTenant ? [{ name: 'tenantID', label: 'Tenant', required: true, initial: localStorage.getItem(lastTenant) ?? '' }] : []),
    ...(template ? template.parameters.map(parameterField) : imageFields),
    { name: 'project', label: 'Project', more: true, help: 'Absent: default.' },
    { name: 'storageID', label: 'Volume', kind: 'choice', valuesFrom: { path: '/v1/volumes', field: 'name' }, more: true, help: template?.mountPath ? `It is mounted at ${template.mountPath}.` : undefined },
    { name: 'inactivityTimeoutSeconds', label: 'Stop after so many seconds unused', kind: 'number', more: true, help: '0: never.' },
    { name: 'maxRunSeconds', label: 'Stop after so many seconds', kind: 'number', more: true },
    { name: 'labels', label: 'Labels', kind: 'labels', more: true },
  ];
}

export function initialOf(fields: FormField[], template: Template | undefined): Values {
  return initialValues(fields, { instanceID: `${template?.name ?? 'instance'}-${randomName().slice(0, 4)}` });
}

/** The cheapest of those that are available; without prices the smallest. */
export function suggestedOffer(offers: Offer[]): Offer | undefined {
  const price = (offer: Offer) => (offer.price ? Number(offer.price) : 1e6 + offer.gpus);
  const available = offers.filter((offer) => offer.available > 0);
  return [...(available.length > 0 ? available : offers)].sort((a, b) => price(a) - price(b))[0];
}

interface Chosen {
  fields: FormField[];
  values: Values;
  template?: Template;
  offer: Offer;
  ownTenant: string;
}

export function createBody({ fields, values, template, offer, ownTenant }: Chosen): Record<string, unknown> {
  const { parameters, port, ...given } = bodyOf(fields, values);
  const body: Record<string, unknown> = { instanceID: given.instanceID, tenantID: ownTenant, specName: offer.spec, ...given };
  if (template) body.templateName = template.name;
  const pairs = Object.entries((parameters ?? {}) as Record<string, unknown>);
  if (pairs.length > 0) body.parameters = pairs.map(([name, value]) => ({ name, value: String(value) }));
  if (port !== undefined) body.template = { ...(body.template as object | undefined), ports: [{ port, isProbe: true }] };
  return body;
}

function endText({ inactivityTimeoutSeconds, maxRunSeconds, stopAt }: Plan): string {
  const ends = [
    inactivityTimeoutSeconds > 0 && `stops after ${durationText(inactivityTimeoutSeconds)} unused`,
    maxRunSeconds > 0 && `stops after ${durationText(maxRunSeconds)}`,
    stopAt && `stops at ${new Date(stopAt).toLocaleString()}`,
  ].filter((one) => typeof one === 'string');
  return ends.length > 0 ? ends.join(' · ') : 'runs until it is stopped';
}

/** The plan of a start in words: "From warm stock in lon · 2.49 USD per hour · stops after 30 min unused". */
export function planText(plan: Plan): string {
  const { zone, host, fromStock, gpu } = plan;
  const place = `${fromStock ? 'From warm stock' : 'On a free host'} in ${zone}${host ? ` (${host})` : ''}`;
  const price = gpu?.pricePerHour ? `${moneyText(gpu.pricePerHour, gpu.currency)} per hour` : 'no price is set';
  return [place, price, endText(plan)].join(' · ');
}
