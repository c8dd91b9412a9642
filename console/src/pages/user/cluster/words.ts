// Clusters as words: why one waits, what its nodes do, and what a change of it does.
import type { Schemas } from '../../../api/client';
import type { Tone } from '../../../parts/state_badge';
import { countText } from '../../../parts/words';

export type Cluster = Schemas['Cluster'];
export type ClusterNode = Schemas['ClusterNode'];
export type ClusterStep = Schemas['ClusterStep'];
export type Pool = Schemas['ClusterPool'];

export const clusterStates = ['provisioning', 'ready', 'scaling', 'degraded', 'failed', 'deleting', 'deleted'] as const;

export const tones: Record<Cluster['state'], Tone> = {
  provisioning: 'busy', ready: 'ok', scaling: 'busy', degraded: 'warn', failed: 'bad', deleting: 'busy', deleted: 'off',
};

export const nodeTones: Record<ClusterNode['state'], Tone> = {
  claimed: 'busy', preparing: 'busy', creating: 'busy', joining: 'busy', ready: 'ok', draining: 'busy', leaving: 'busy', cleaning: 'busy', unclean: 'bad', left: 'off',
};

/** It takes no change but a deletion. */
export const isEnding = ({ state }: Pick<Cluster, 'state'>): boolean => ['failed', 'deleting', 'deleted'].includes(state);

/** Something still moves, also where no change tells of it. */
export const isSettled = ({ state, nodes }: Pick<Cluster, 'state' | 'nodes'>): boolean =>
  (state === 'ready' || state === 'deleted') && nodes.every((node) => node.state === 'ready');

const reasonWords: Record<string, string> = {
  no_host: 'no host is free', quota_exceeded: 'quota is used', api_silent: 'API is silent', not_made_in_time: 'not made in time', driver_missing: 'no driver',
};

// Reasons that only repeat the state.
const plainReasons = ['', 'created', 'deleted'];

/** Two or three words beside the state; "" where the state says it all. */
export function reasonText({ reason }: Pick<Cluster, 'reason'>): string {
  return plainReasons.includes(reason) ? '' : (reasonWords[reason] ?? reason.replaceAll('_', ' '));
}

/** "3/5" */
export const readyText = ({ readyNodes, wantedNodes }: Pick<Cluster, 'readyNodes' | 'wantedNodes'>): string => `${readyNodes}/${wantedNodes}`;

/** Before its first node is ready it has no API that could answer. */
export function apiText({ apiAnswers, madeAt }: Pick<Cluster, 'apiAnswers' | 'madeAt'>): string {
  if (apiAnswers) return 'answers';
  return madeAt ? 'does not answer' : '';
}

const labelsText = (labels: Record<string, string>) => Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(', ');

/** Hosts that a pool takes: "8 GPUs of H100 at least, zone nj". */
export function needsText({ gpuType = '', gpus = 0, zone, hosts, hostLabels }: Pick<Pool, 'zone' | 'hosts' | 'hostLabels'> & Partial<Pool>): string {
  const model = gpuType && ` of ${gpuType}`;
  const parts = [
    gpus > 0 ? `${countText(gpus, 'GPU')}${model} at least` : model && `GPUs${model}`,
    zone && `zone ${zone}`,
    hosts.length > 0 && `of ${hosts.join(', ')}`,
    labelsText(hostLabels),
  ].filter(Boolean);
  return parts.join(', ') || 'any host';
}

export interface PoolRow {
  cluster: Cluster;
  /** "" of the control plane. */
  name: string;
  title: string;
  wanted: number;
  ready: number;
  /** Nodes of it that are to go. */
  leaving: number;
  needs: string;
}

/** The control plane, its pools, and pools of which only nodes that leave are there. */
export function poolRows(cluster: Cluster): PoolRow[] {
  const of = (name: string) => cluster.nodes.filter((node) => (node.role === 'control' ? '' : node.pool) === name);
  const row = (name: string, title: string, wanted: number, needs: string): PoolRow => ({
    cluster, name, title, wanted, needs,
    ready: of(name).filter(({ state }) => state === 'ready').length,
    leaving: of(name).filter((node) => !node.wanted).length,
  });
  const known = cluster.pools.map(({ name }) => name);
  const gone = [...new Set(cluster.nodes.filter(({ role, pool }) => role === 'worker' && !known.includes(pool)).map(({ pool }) => pool))];
  return [
    row('', 'Control plane', cluster.control, needsText({ zone: cluster.controlZone, hosts: cluster.controlHosts, hostLabels: cluster.controlLabels })),
    ...cluster.pools.map((pool) => row(pool.name, pool.name, pool.count, needsText(pool))),
    ...gone.map((name) => row(name, name, 0, '')),
  ];
}

/** What another number of hosts does. */
export function scaleText({ name, wanted }: Pick<PoolRow, 'name' | 'wanted'>, next: number | undefined): string {
  const whose = name ? `Pool ${name}` : 'The control plane';
  const more = (next ?? wanted) - wanted;
  if (more === 0) return `${whose} is to have ${countText(wanted, 'host')}.`;
  const end = name ? '' : ' Members of the control plane join and leave one at a time.';
  if (more > 0) return `${whose} takes ${countText(more, 'more host')} as soon as ${more === 1 ? 'one is' : 'they are'} free. Nothing else runs there then.${end}`;
  const [leave, are] = more === -1 ? ['leaves', 'host is'] : ['leave', 'hosts are'];
  return `${countText(-more, 'node')} of ${name ? `pool ${name}` : 'the control plane'} ${leave}: pods move to other nodes, and the ${are} cleaned.${end}`;
}

/** What a deletion ends. */
export function deleteText({ name, wantedNodes, state }: Pick<Cluster, 'name' | 'wantedNodes' | 'state'>): string {
  if (isEnding({ state })) return `Hosts of ${name} are cleaned, and then free.`;
  return `All that runs in ${name} ends, and its data is deleted. Its ${countText(wantedNodes, 'host')} ${wantedNodes === 1 ? 'is' : 'are'} cleaned, and then free.`;
}

/** The control plane first, then pool by pool; "train-w2" before "train-w10". */
export function nodesInOrder(nodes: readonly ClusterNode[]): ClusterNode[] {
  const rank = ({ role }: ClusterNode) => (role === 'control' ? 0 : 1);
  return [...nodes].sort((a, b) => rank(a) - rank(b) || a.pool.localeCompare(b.pool) || a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** "control plane", "pool gpu" */
export const roleText = ({ role, pool }: Pick<ClusterNode, 'role' | 'pool'>): string => (role === 'control' ? 'control plane' : `pool ${pool}`);

/** "kubeadm-join, attempt 3" */
export function stepText({ step, attempt }: Pick<ClusterNode, 'step' | 'attempt'>): string {
  return attempt > 0 ? `${step}, failed ${attempt === 1 ? 'once' : `${attempt} times`}` : step;
}

/** "" while it is no node of the cluster: nobody can tell. */
export function healthText({ state, healthy }: Pick<ClusterNode, 'state' | 'healthy'>): string {
  if (!['ready', 'draining', 'leaving'].includes(state)) return '';
  return healthy ? 'healthy' : 'not healthy';
}

export type StepEnd = 'done' | 'failed' | 'running';

export function endOf({ endedAt, problem }: Pick<ClusterStep, 'endedAt' | 'problem'>): StepEnd {
  if (problem) return 'failed';
  return endedAt ? 'done' : 'running';
}
