// Types of calls that openapi.json of this commit does not have yet. Delete an entry once it is generated.
import type { components } from './schema';

type Schemas = components['schemas'];

interface Get<Answer> {
  get: { responses: { 200: { content: { 'application/json': Answer } } } };
}

export interface Scope {
  level: 'cloud' | 'provider' | 'tenant' | 'project';
  tenantID?: string;
  project?: string;
  provider?: string;
  permissions: string[];
}

export type Whoami = Schemas['Whoami'] & { scopes?: Scope[] };

interface Count {
  state: string;
  count: number;
}

interface Named {
  id: string;
  name: string;
  tenantID: string;
  project: string;
}

/** A part that the caller may not read is absent. */
export interface Overview {
  instances?: Count[];
  waiting?: (Named & { state: string; reason: string; sentence: string; since: string })[];
  stopping?: (Named & { at: string; why: string })[];
  costs?: { currency: string; perHour: string }[];
  gpus?: OverviewGpus[];
  quotas?: { tenantID: string; project: string; subject: string; name: string; resource: string; limit: string; used: string }[];
  alerts?: { severity: string; count: number }[];
  hosts?: Count[];
  truncated: boolean;
  asOf: string;
}

export interface OverviewGpus {
  zone: string;
  model: string;
  total: number;
  free: number;
  claimed: number;
  stock: number;
  foreign: number;
  outOfService: number;
}

export interface Found {
  kind: string;
  id: string;
  name: string;
  state: string;
  tenantID: string;
  project: string;
}

export interface Ticket {
  url: string;
  ticket: string;
  expiresAt: string;
}

/** A value of each host or GPU. `words`: what the numbers stand for; all bits set: unknown. */
export interface FleetColumn {
  name: string;
  words: string[];
  /** Bytes of each value, the lowest first. */
  width: number;
  /** Multiply a number by this. */
  step: number;
  unit: string;
  /** base64 */
  data: string;
}

export interface Fleet {
  at: string;
  cursor: string;
  /** These are all hosts: forget others. */
  whole: boolean;
  hosts: string[];
  names: string[];
  hostColumns: FleetColumn[];
  columns: FleetColumn[];
  removed: string[];
  /** Ask again with ?after= this. */
  next?: string;
}

export interface ComingPaths {
  '/v1/fleet': Get<Fleet>;
  '/v1/whoami': Get<Whoami>;
  '/v1/overview': Get<Overview>;
  '/v1/search': Get<{ items: Found[] }>;
}
