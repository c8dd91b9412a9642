// A document for `hostler apply -f`, with the fields of the request that makes the object.

// A text that stays one without quotes, in every version of YAML.
const plain = /^[A-Za-z_/][A-Za-z0-9_./@-]*(:[A-Za-z0-9_./@-]+)*$/;
const plainWithin = /^[A-Za-z_/][A-Za-z0-9_./@-]*$/;
const words = /^(true|false|null|yes|no|on|off|y|n)$/i;

// JSON's texts are texts of YAML.
function scalar(value: unknown, form: RegExp): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return form.test(value) && !words.test(value) ? value : JSON.stringify(value);
}

function within(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(within).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return scalar(value, plainWithin);
  return `{${Object.entries(value).map(([name, one]) => `${name}: ${within(one)}`).join(', ')}}`;
}

function lines(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return [`${name}:`, ...value.map((one) => `  - ${within(one)}`)];
  if (typeof value === 'object' && value !== null)
    return [`${name}:`, ...Object.entries(value).flatMap(([inner, one]) => lines(scalar(inner, plainWithin), one)).map((line) => `  ${line}`)];
  return [`${name}: ${scalar(value, plain)}`];
}

export function applyDocument(kind: string, body: Record<string, unknown>): string {
  return [`# hostler apply -f ${kind}.yaml`, `kind: ${kind}`, ...Object.entries(body).flatMap(([name, value]) => lines(name, value))].join('\n');
}
