// Reads /v1/watch by fetch: EventSource cannot send our header.

interface Change {
  kind: string;
  id: string;
  name?: string;
  tenantID?: string;
  project?: string;
  change: 'added' | 'changed' | 'removed';
}

export type LiveStatus = 'starting' | 'live' | 'lost' | 'no-leader' | 'signed-out';

export type LiveMessage =
  | { type: 'status'; status: LiveStatus; since: number }
  | { type: 'change'; change: Change }
  | { type: 'everything' };

interface ServerEvent {
  event: string;
  data: string;
  id: string;
}

/** Cuts text into server-sent events; keeps what is not whole yet. */
export class EventCutter {
  private rest = '';

  push(text: string): ServerEvent[] {
    const blocks = (this.rest + text.replace(/\r\n?/g, '\n')).split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map(parseBlock).filter((one) => one.event !== '');
  }
}

function parseBlock(block: string): ServerEvent {
  const event: ServerEvent = { event: '', data: '', id: '' };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event.event = value;
    if (name === 'id') event.id = value;
    if (name === 'data') event.data += (event.data ? '\n' : '') + value;
  }
  return event;
}

const firstPause = 500;
const longestPause = 15_000;
const silenceMax = 45_000;

/** Follows the stream for as long as the page lives, and tells each change and each change of its state. */
export class LiveStream {
  private lastId = '';
  private pause = firstPause;
  private status: LiveStatus = 'starting';
  private wakeUp = () => {};

  constructor(
    private readonly tell: (message: LiveMessage) => void,
    private readonly url = '/v1/watch',
  ) {}

  async follow(): Promise<void> {
    for (;;) {
      await this.once().catch(() => this.set('lost'));
      await this.sleep(this.pause * (0.75 + Math.random() / 2));
      this.pause = Math.min(this.pause * 2, longestPause);
    }
  }

  /** Asks again now, if it waits. */
  wake(): void {
    this.wakeUp();
  }

  private sleep(milliseconds: number): Promise<void> {
    return new Promise((done) => {
      this.wakeUp = done;
      setTimeout(done, milliseconds);
    });
  }

  private set(status: LiveStatus): void {
    if (status === this.status) return;
    this.status = status;
    this.tell({ type: 'status', status, since: Date.now() });
  }

  private async once(): Promise<void> {
    const headers: Record<string, string> = { 'X-Hostler-Console': '1', Accept: 'text/event-stream' };
    if (this.lastId) headers['Last-Event-ID'] = this.lastId;
    const abort = new AbortController();
    const silent = setTimeout(() => abort.abort(), silenceMax);
    const response = await fetch(this.url, { headers, credentials: 'same-origin', signal: abort.signal }).finally(() => clearTimeout(silent));
    if (response.status === 401) return this.set('signed-out');
    if (response.status === 503) return this.set('no-leader');
    if (!response.ok || !response.body) {
      this.lastId = '';
      return this.set('lost');
    }
    await this.take(response.body, abort);
    this.set('lost');
  }

  private async take(body: ReadableStream<Uint8Array>, abort: AbortController): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    const cutter = new EventCutter();
    for (;;) {
      const silent = setTimeout(() => abort.abort(), silenceMax);
      const { value, done } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      for (const event of cutter.push(value)) this.handle(event);
    }
  }

  private handle(event: ServerEvent): void {
    if (event.id) this.lastId = event.id;
    this.pause = firstPause;
    if (event.event === 'change') this.tell({ type: 'change', change: JSON.parse(event.data) as Change });
    if (event.event === 'reset') this.tell({ type: 'everything' });
    if (this.status !== 'live') {
      if (this.status !== 'starting') this.tell({ type: 'everything' });
      this.set('live');
    }
  }
}
