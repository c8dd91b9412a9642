// The command line and the curl line that do the same as a form. The rules for flags are those of src/cli/commands.cpp.

type Value = unknown;

export interface Shown {
  /** Noun and verb: "volume create". */
  command: string;
  /** Field that the command takes without a flag: "name". */
  argument?: string;
  method: string;
  path: string;
  body?: Record<string, Value>;
  /** Fields whose values are not shown: the command asks for them. */
  hidden?: readonly string[];
  /** Fields of the command line that are not of the body: words of the query. */
  flags?: Record<string, Value>;
}

function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

const plain = /^[A-Za-z0-9_./:=@,+-]+$/;

export function quoted(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const shorter = (flag: string) => flag.replace(/^is-/, '').replace(/-(id|name|seconds)$/, '');

function singular(flag: string): string {
  if (!flag.endsWith('s')) return flag;
  return flag.endsWith('sses') ? flag.slice(0, -2) : flag.slice(0, -1);
}

interface Port {
  port: number;
  isPublic?: boolean;
  isProbe?: boolean;
  baseUrl?: string;
}

function portText(one: Port): string {
  const parts = [String(one.port)];
  if (one.isPublic) parts.push('public');
  if (one.isProbe) parts.push('probe');
  if (one.baseUrl) parts.push(`base-url=${one.baseUrl}`);
  return parts.join(',');
}

interface Pool {
  name?: string;
  count?: number;
  gpuType?: string;
  gpus?: number;
  zone?: string;
  hosts?: string[];
  hostLabels?: Record<string, string>;
}

function poolText(one: Pool): string {
  const parts = [`${one.name ?? ''}=${one.count ?? 1}`];
  if (one.gpuType) parts.push(`gpu-type=${one.gpuType}`);
  if (one.gpus) parts.push(`gpus=${one.gpus}`);
  if (one.zone) parts.push(`zone=${one.zone}`);
  parts.push(...(one.hosts ?? []).map((host) => `host=${host}`));
  parts.push(...Object.entries(one.hostLabels ?? {}).map(([name, value]) => `label=${name}=${value}`));
  return parts.join(',');
}

/** An entry of a list, as the command line takes it. */
function entryText(list: string, entry: Value): string {
  if (typeof entry !== 'object' || entry === null) return String(entry);
  if (list === 'pools') return poolText(entry as Pool);
  const one = entry as Record<string, Value>;
  if ('port' in one) return portText(entry as Port);
  if ('mountPath' in one) return `${String(one.name)}:${String(one.mountPath)}${one.readOnly ? ':ro' : ''}`;
  if ('resource' in one) return `${String(one.resource)}=${String(one.limit)}${one.guaranteed ? `,guaranteed=${String(one.guaranteed)}` : ''}`;
  if ('name' in one && 'value' in one) return `${String(one.name)}=${String(one.value)}`;
  return JSON.stringify(entry);
}

// Lists whose flag is not in the singular, which is another flag of the command: `--pool gpu --count 4`, `--pools gpu=4`.
const pluralFlags: Record<string, readonly string[]> = { 'cluster scale': ['pools'] };

function isPlural(command: string, name: string): boolean {
  return Object.entries(pluralFlags).some(([verb, names]) => command.startsWith(verb) && names.includes(name));
}

function flagsOf(name: string, value: Value, within: string, plural = false): string[] {
  if (value === undefined || value === '') return [];
  if (value === false) return [`--${shorter(kebab(name))}=false`];
  if (plural && Array.isArray(value) && value.length === 0) return [`--${kebab(name)} ''`]; // All of them go.
  if (Array.isArray(value)) return value.map((one) => `--${plural ? kebab(name) : singular(kebab(name))} ${quoted(entryText(name, one))}`);
  if (value === true) return [`--${shorter(kebab(name))}`];
  if (typeof value === 'object' && value !== null) {
    const inner = Object.entries(value);
    if (!/^values$|labels$/i.test(name)) return inner.flatMap(([key, one]) => flagsOf(key, one, name));
    const flag = within === 'placement' ? 'host-label' : singular(kebab(name));
    return inner.map(([key, one]) => `--${flag} ${quoted(`${key}=${String(one)}`)}`);
  }
  const unit = name.endsWith('Seconds') ? 's' : '';
  // Of a queue: --guaranteed-gpus, --most-gpus.
  const of = within === 'guaranteed' || within === 'most' ? `${within}-` : '';
  return [`--${of}${shorter(kebab(name))} ${quoted(String(value) + unit)}`];
}

/** "hostler volume create models --size 10Gi" */
export function commandLine({ command, argument, body = {}, flags = {}, hidden = [] }: Shown): string {
  const words = ['hostler', command];
  if (argument && body[argument]) words.push(quoted(String(body[argument])));
  const rest = Object.entries({ ...flags, ...body }).filter(([name]) => name !== argument);
  return [...words, ...rest.flatMap(([name, value]) => flagsOf(name, hidden.includes(name) ? true : value, '', isPlural(command, name)))].join(' ');
}

/** The same as a request. */
export function curlLine({ method, path, body, hidden = [] }: Shown, origin: string): string {
  const parts = [`curl -X ${method}`, `-H "Authorization: Bearer $HOSTLER_KEY"`];
  if (body && Object.keys(body).length > 0)
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, (name, value: Value) => (hidden.includes(name) ? '…' : value)))}`);
  return [...parts, quoted(origin + path)].join(' ');
}
