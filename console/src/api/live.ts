// Keeps on screen what changed: changes of /v1/watch make answers of their kind old, at most once a second.
import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { type LiveMessage, type LiveStatus, LiveStream } from './stream';

interface Live {
  status: LiveStatus;
  since: number;
}

let live: Live = { status: 'starting', since: Date.now() };
const listeners = new Set<() => void>();

function setLive(next: Live): void {
  live = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** State of the connection: live, lost since, no leader. */
export function useLive(): Live {
  return useSyncExternalStore(subscribe, () => live);
}

/**
 * Collects kinds and makes their answers old together. Only those on screen are read again. A read that runs is left to its
 * end, for else changes could keep it from ever ending; its answer may be older than the change, so it follows once more.
 */
export class Invalidator {
  private kinds = new Set<string>();
  private all = false;
  private late = new Set<Query>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly cache: QueryClient,
    private readonly pause = 1000,
  ) {}

  add(kind: string): void {
    this.kinds.add(kind);
    this.plan();
  }

  addAll(): void {
    this.all = true;
    this.plan();
  }

  private plan(): void {
    this.timer ??= setTimeout(() => this.flush(), this.pause);
  }

  private flush(): void {
    const { kinds, all, late } = this;
    this.kinds = new Set();
    this.all = false;
    this.late = new Set();
    this.timer = undefined;
    const isMeant = (query: Query) =>
      all || late.has(query) || (query.meta?.kinds ?? []).some((kind) => kinds.has(kind));
    const running = this.cache.getQueryCache().findAll({ fetchStatus: 'fetching', predicate: isMeant });
    for (const query of running) this.late.add(query);
    if (running.length > 0) this.plan();
    const predicate = (query: Query) => isMeant(query) && !this.late.has(query);
    void this.cache.invalidateQueries({ predicate, refetchType: 'active' });
  }
}

function listen(take: (message: LiveMessage) => void): void {
  if (typeof SharedWorker === 'undefined') {
    void new LiveStream(take).follow();
    return;
  }
  const worker = new SharedWorker(new URL('./live_worker.ts', import.meta.url), { type: 'module', name: 'hostler-live' });
  worker.port.onmessage = (event: MessageEvent<LiveMessage>) => take(event.data);
  worker.addEventListener('error', () => void new LiveStream(take).follow(), { once: true });
  addEventListener('pagehide', () => worker.port.postMessage('gone'));
  addEventListener('pageshow', (event) => event.persisted && worker.port.postMessage('back'));
}

export function startLive(cache: QueryClient): void {
  const invalidator = new Invalidator(cache);
  listen((message) => {
    if (message.type === 'change') invalidator.add(message.change.kind);
    if (message.type === 'everything') invalidator.addAll();
    if (message.type !== 'status') return;
    // The next read of this tab is refused, too, and leads to the sign-in; a tab that has signed in again stays.
    if (message.status === 'signed-out') invalidator.addAll();
    setLive({ status: message.status, since: message.since });
  });
}
