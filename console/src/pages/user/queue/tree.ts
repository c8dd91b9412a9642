// Queues as a tree: tenants, their projects, their users. The API lists parents before their children.
import type { Schemas } from '../../../api/client';

export type Queue = Schemas['Queue'];

export interface QueueNode {
  /** Its path: one of each in the list. */
  key: string;
  queue: Queue;
  depth: number;
  /** The first of these siblings gets the next place. */
  next: boolean;
  /** The part of the cloud, in thousandths, that fills a bar of it and of its siblings. */
  scale: number;
  children: QueueNode[];
}

export const keyOf = ({ tenantID, project, user }: Queue): string => [tenantID, project, user].filter(Boolean).join('/');

function parentKeyOf({ tenantID, project, user }: Queue): string {
  if (user) return `${tenantID}/${project}`;
  return project ? tenantID : '';
}

/** "acme", "lab", "ann@example.com"; with `full` also where it is. */
export function nameOf(queue: Queue, full = false): string {
  const own = queue.user ? queue.name || queue.user : queue.project || queue.tenantID;
  if (!full) return own;
  const above = queue.user ? [queue.tenantID, queue.project] : queue.project ? [queue.tenantID] : [];
  return [...above, own].join(' / ');
}

/** "tenant acme", "project lab of acme", "ann@example.com in project lab of acme" */
export function wordsOf(queue: Queue): string {
  if (!queue.project) return `tenant ${queue.tenantID}`;
  const project = `project ${queue.project} of ${queue.tenantID}`;
  return queue.user ? `${nameOf(queue)} in ${project}` : project;
}

/** The order of the scheduler: below a guarantee, then by rank, then who waits longest, then by name. */
function isBefore(one: Queue, other: Queue): boolean {
  if (one.belowGuarantee !== other.belowGuarantee) return one.belowGuarantee;
  if (one.rankMilli !== other.rankMilli) return one.rankMilli < other.rankMilli;
  const [since, otherSince] = [Date.parse(one.waitsSince ?? ''), Date.parse(other.waitsSince ?? '')];
  return since === otherSince ? keyOf(one) < keyOf(other) : since < otherSince;
}

/** Of siblings those that wait are asked, and one of them is next. */
function nextOf(queues: readonly Queue[]): Queue | undefined {
  return queues.filter(({ waitingElements }) => waitingElements > 0).reduce<Queue | undefined>((best, one) => (best && !isBefore(one, best) ? best : one), undefined);
}

const largest = ({ shareMilli, entitledMilli, guaranteedMilli }: Queue): number => Math.max(shareMilli, entitledMilli, guaranteedMilli);

function ranked(nodes: QueueNode[]): QueueNode[] {
  const next = nextOf(nodes.map(({ queue }) => queue));
  const scale = Math.max(1, ...nodes.map(({ queue }) => largest(queue)));
  return nodes.map((node) => ({ ...node, scale, next: node.queue === next && nodes.length > 1, children: ranked(node.children) }));
}

/** A queue whose parent the reader may not see stands at the top. */
export function treeOf(queues: readonly Queue[]): QueueNode[] {
  const nodes = new Map(queues.map((queue) => [keyOf(queue), { key: keyOf(queue), queue, depth: 0, next: false, scale: 1, children: [] as QueueNode[] }]));
  const top: QueueNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(parentKeyOf(node.queue));
    node.depth = parent ? parent.depth + 1 : 0;
    (parent?.children ?? top).push(node);
  }
  return ranked(top);
}

/** "12.5 %": a part of the cloud. */
export function percentText(milli: number): string {
  const percent = milli / 10;
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)} %`;
}

/** "8 GPUs, 64 CPUs, 512Gi memory"; undefined: none of them is set. */
export function amountText(amount: Schemas['QueueAmount'] | undefined): string | undefined {
  const parts = [
    amount?.gpus !== undefined && `${amount.gpus} ${amount.gpus === 1 ? 'GPU' : 'GPUs'}`,
    amount?.cpu !== undefined && `${amount.cpu} ${amount.cpu === '1' ? 'CPU' : 'CPUs'}`,
    amount?.memory !== undefined && `${amount.memory} memory`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

const quoted = (text: string) => (/^[\w-]+$/.test(text) ? text : `'${text.replaceAll("'", '')}'`);

/** The list of its jobs that wait, or that have a place. */
export function jobsPage({ tenantID, project, user }: Queue, which: 'waiting' | 'active'): string {
  const terms = [`tenantID=${quoted(tenantID)}`, project && `project=${quoted(project)}`, user && `createdBy=${quoted(user)}`, `${which}>0`];
  return `/jobs?${new URLSearchParams({ query: terms.filter(Boolean).join(' ') }).toString()}`;
}
