// The one way to the API: every call has our header, writes have an idempotency key, refusals become a Problem.
import createClient, { type Middleware } from 'openapi-fetch';
import { asProblem, decodeProblem, Problem, silent, unreachable } from './problem';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Paths = paths;

type Json<T> = { responses: { 200: { content: { 'application/json': T } } } };

/** What a GET of this path answers. */
export type Answer<P extends keyof Paths> = Paths[P] extends { get: Json<infer T> } ? T : never;

/** An entry of the list at this path. */
export type Item<P extends keyof Paths> = Answer<P> extends { items: (infer T)[] } ? T : never;

/** Paths whose GET answers a list. */
export type ListPath = { [P in keyof Paths]: [Item<P>] extends [never] ? never : P }[keyof Paths];

export type Query = Record<string, string | number | boolean | undefined>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Call {
  params?: Record<string, string>;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

/** A cookie counts only beside it: pages of instances cannot set it. */
export const ownHeader = { 'X-Hostler-Console': '1' };

const nameOfPage = () => location.pathname + location.search;

export function goToSignIn(): void {
  location.assign(`/sign-in?target=${encodeURIComponent(`console:${nameOfPage()}`)}`);
}

/** crypto.randomUUID is absent over plain http. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (one) => one.toString(16).padStart(2, '0')).join('');
}

const ours: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set('Idempotency-Key', randomName());
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return undefined;
    if (response.status === 401) goToSignIn();
    throw await decodeProblem(response);
  },
  onError({ error }) {
    return error instanceof Problem || (error instanceof Error && error.name === 'AbortError') ? undefined : unreachable();
  },
};

const answerMax = 60_000;

/** Fails when no answer comes: a stopped master, or a network that drops packets, refuses nothing. */
async function inTime(request: Request): Promise<Response> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silent()), answerMax);
  });
  return Promise.race([fetch(request), late]).finally(() => clearTimeout(timer));
}

const client = createClient<Paths>({
  baseUrl: typeof location === 'undefined' ? undefined : location.origin,
  headers: ownHeader,
  credentials: 'same-origin',
  fetch: inTime,
});
client.use(ours);

/** Fills `{instance}` of a path. */
export function filled(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function withoutEmpty(query: Query = {}): Query {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''));
}

/** Any call, by the words that a resource description has. Throws a Problem. */
export async function send<T>(method: Method, path: string, call: Call = {}): Promise<T> {
  const init = { params: { query: withoutEmpty(call.query) }, body: call.body, signal: call.signal };
  const request = client.request as unknown as (
    method: string,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown }>;
  try {
    return (await request(method.toLowerCase(), filled(path, call.params), init)).data as T;
  } catch (error) {
    throw asProblem(error);
  }
}

/** A GET, typed by its path. */
export function read<P extends keyof Paths & string>(path: P, call: Call = {}): Promise<Answer<P>> {
  return send<Answer<P>>('GET', path, call);
}
