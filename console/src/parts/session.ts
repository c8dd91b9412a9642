// A terminal session over the gateway's WebSocket: frames and resumption as docs/use/sessions.md has them.
import { type Schemas, send } from '../api/client';
import { asProblem, type Problem } from '../api/problem';

export const channel = { input: 0, output: 1, error: 2, resize: 3, signal: 4, end: 5, exit: 6, acknowledge: 7 } as const;

/** A query as gateways read it: a blank is %20, since they take a + as it is. */
export const queryText = (words: [string, string | number][]) =>
  words.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');

interface Frame {
  channel: number;
  number: number;
  data: Uint8Array;
}

const headLength = 9;
const messageMax = 32 * 1024;
const windowMax = 256 * 1024;
const overhead = 64; // Of a kept message at the other side, so that empty ones count.

/** One byte of channel, eight bytes of number (the highest first), then the data. */
export function encodeFrame({ channel: kind, number, data }: Frame): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(headLength + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kind);
  view.setBigUint64(1, BigInt(number));
  bytes.set(data, headLength);
  return bytes;
}

export function decodeFrame(buffer: ArrayBuffer): Frame | undefined {
  if (buffer.byteLength < headLength) return undefined;
  const view = new DataView(buffer);
  return { channel: view.getUint8(0), number: Number(view.getBigUint64(1)), data: new Uint8Array(buffer, headLength) };
}

interface Exit {
  code: number;
  message: string;
}

export function decodeExit(data: Uint8Array): Exit {
  if (data.length < 4) return { code: 0, message: '' };
  const code = new DataView(data.buffer, data.byteOffset).getInt32(0);
  const lines = new TextDecoder().decode(data.subarray(4)).split('\n');
  return { code, message: lines.slice(2).join('\n') };
}

/** What each side has not acknowledged yet, and what it has taken. Independent of any connection. */
export class Ledger {
  private sent: Frame[] = [];
  private waiting: Frame[] = [];
  private nextNumber = 1;
  private wasGreeted = false;
  taken = 0;

  /** Numbers data of a channel; what may be sent now is returned by `take`. */
  add(kind: number, data: Uint8Array): void {
    for (let at = 0; at === 0 || at < data.length; at += messageMax)
      this.waiting.push({ channel: kind, number: this.nextNumber++, data: data.subarray(at, at + messageMax) });
  }

  /** Frames that fit in the window. */
  take(): Frame[] {
    const size = (frame: Frame) => frame.data.length + overhead;
    let open = windowMax - this.sent.reduce((sum, frame) => sum + size(frame), 0);
    const out: Frame[] = [];
    for (let frame = this.waiting[0]; frame && open >= size(frame); frame = this.waiting[0]) {
      open -= size(frame);
      out.push(frame);
      this.waiting.shift();
    }
    this.sent.push(...out);
    return out;
  }

  acknowledged(number: number): void {
    this.sent = this.sent.filter((frame) => frame.number > number);
  }

  /**
   * On a new connection the other side says first what it has: what it lacks is sent again. A page that was loaded again
   * knows nothing of the numbers before, and begins behind them.
   */
  greet(number: number): void {
    const all = [...this.sent, ...this.waiting];
    this.sent = [];
    if (!this.wasGreeted) for (const [index, frame] of all.entries()) frame.number = number + 1 + index;
    this.wasGreeted = true;
    this.waiting = all.filter((frame) => frame.number > number);
    this.nextNumber = (this.waiting.at(-1)?.number ?? number) + 1;
  }

  /** Whether a frame from the other side is new; a repeated one is dropped. */
  isNew(frame: Frame): boolean {
    if (frame.number <= this.taken) return false;
    this.taken = frame.number;
    return true;
  }
}

export type SessionState = 'connecting' | 'open' | 'broken' | 'elsewhere' | 'ended';

interface SessionEvents {
  output: (data: Uint8Array) => void;
  state: (state: SessionState, message: string) => void;
}

interface Options {
  instance: string;
  tenantID?: string;
  /** 16 to 128 characters; the same again is the same session. */
  identity: string;
  /** When it was last connected, by the clock of this machine. It existed before this page then, and is never started again. */
  lastOpen?: number;
  command: string[];
  rows: number;
  columns: number;
}

const firstPause = 300;
const longestPause = 8000;
const keptFor = 60_000; // By the host, without a connection.
const lookEvery = 5000;
const asleepAfter = 70_000; // Browsers call a timer of a hidden page once a minute, and one of a page that sleeps not at all.
export const goneText = 'The session has ended: its host keeps a shell for a minute without a connection.';

/** A command with a terminal in an instance, over as many connections as it takes. */
export class Session {
  private readonly ledger = new Ledger();
  private socket: WebSocket | undefined;
  private pause = firstPause;
  private ended = false;
  private begun: boolean;
  private tried = false;
  private greeted = false;
  private lastOpen: number;
  private isOpen = false;
  /** When this page was last awake with the connection open. */
  private alive = Date.now();
  private readonly look = setInterval(() => this.isAwake() && this.seen(), lookEvery);
  /** The ticket that was let in. */
  private last: Schemas['CreatedTicket'] | undefined;

  constructor(
    private readonly options: Options,
    private readonly events: SessionEvents,
  ) {
    this.begun = options.lastOpen !== undefined;
    this.lastOpen = options.lastOpen ?? Date.now();
  }

  /** For a page that comes back. A machine that slept hears late that its connection was lost. */
  get lastOpenAt(): number {
    if (!this.isOpen) return this.lastOpen;
    return this.isAwake() ? Date.now() : this.alive;
  }

  async connect(): Promise<void> {
    if (this.ended) return;
    this.events.state(this.begun && this.tried ? 'broken' : 'connecting', '');
    this.tried = true;
    try {
      const ticket = await send<Schemas['CreatedTicket']>('POST', '/v1/instances/{instance}/tickets', {
        params: { instance: this.options.instance },
        body: { kind: 'exec', ...(this.options.tenantID ? { tenantID: this.options.tenantID } : {}) },
      });
      if (!this.ended) this.open(ticket);
    } catch (error) {
      const problem = asProblem(error);
      // While no master answers, the gateway that let the session in takes its ticket again.
      if (!this.ended && this.begun && this.last && [0, 503].includes(problem.status)) this.open(this.last);
      else this.refused(problem);
    }
  }

  type(text: string): void {
    this.write(channel.input, new TextEncoder().encode(text));
  }

  resize(rows: number, columns: number): void {
    const data = new Uint8Array(4);
    const view = new DataView(data.buffer);
    view.setUint16(0, rows);
    view.setUint16(2, columns);
    this.options.rows = rows;
    this.options.columns = columns;
    this.write(channel.resize, data);
  }

  /** Leaves it running, for a page that comes back. */
  close(): void {
    this.lastOpen = this.lastOpenAt;
    this.end();
    this.socket?.close();
  }

  /** Another tab has it now: two would take it from each other in turns. */
  leave(): void {
    if (this.ended) return;
    this.close();
    this.events.state('elsewhere', '');
  }

  private end(): void {
    this.ended = true;
    clearInterval(this.look);
  }

  private seen(): void {
    this.alive = Date.now();
  }

  private isAwake(): boolean {
    return Date.now() - this.alive < asleepAfter;
  }

  private query(): string {
    const { command, rows, columns, identity, tenantID } = this.options;
    const words: [string, string | number][] = command.map((word) => ['command', word]);
    words.push(['terminal', 'true'], ['input', 'true'], ['rows', rows], ['columns', columns], ['session', identity]);
    if (this.begun) words.push(['resume', 'true']);
    if (tenantID) words.push(['tenantID', tenantID]);
    return queryText(words);
  }

  private open(created: Schemas['CreatedTicket']): void {
    const { url, ticket } = created;
    const socket = new WebSocket(`${url}?${this.query()}`, ['hostler.session', `hostler.ticket.${ticket}`]);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.last = created;
      this.opened();
    };
    socket.onmessage = (message) => this.handle(message.data as ArrayBuffer);
    socket.onclose = () => this.closed();
    this.socket = socket;
  }

  private opened(): void {
    this.begun = true;
    this.isOpen = true;
    this.seen();
    this.greeted = false;
    this.pause = firstPause;
    this.events.state('open', '');
    this.acknowledge();
  }

  private write(kind: number, data: Uint8Array): void {
    if (this.ended) return;
    this.ledger.add(kind, data);
    this.flush();
  }

  private flush(): void {
    if (!this.greeted || this.socket?.readyState !== WebSocket.OPEN) return;
    for (const frame of this.ledger.take()) this.socket.send(encodeFrame(frame));
  }

  private handle(buffer: ArrayBuffer): void {
    const frame = decodeFrame(buffer);
    if (!frame) return;
    this.seen();
    if (frame.channel === channel.acknowledge) {
      if (this.greeted) this.ledger.acknowledged(frame.number);
      else this.ledger.greet(frame.number);
      this.greeted = true;
      this.flush();
      return;
    }
    if (!this.ledger.isNew(frame)) return;
    if (frame.channel === channel.output || frame.channel === channel.error) this.events.output(frame.data);
    if (frame.channel === channel.exit) this.finish(decodeExit(frame.data));
    this.acknowledge();
  }

  private acknowledge(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(encodeFrame({ channel: channel.acknowledge, number: this.ledger.taken, data: new Uint8Array() }));
  }

  private finish(exit: Exit): void {
    this.end();
    this.events.state('ended', exit.message || `The shell ended with code ${exit.code}.`);
    setTimeout(() => this.socket?.close(), 200);
  }

  private closed(): void {
    this.socket = undefined;
    this.greeted = false;
    if (this.ended) return;
    this.lastOpen = this.lastOpenAt;
    this.isOpen = false;
    this.later('');
  }

  /** A refusal stays as it is, however often one asks; all else may pass. */
  private refused(problem: Problem): void {
    const final = problem.status >= 400 && problem.status < 500 && problem.status !== 429;
    if (final) this.giveUp(problem.sentence);
    else this.later(problem.sentence);
  }

  private giveUp(message: string): void {
    if (this.ended) return;
    this.end();
    this.events.state('ended', message);
  }

  /** One try is made after any absence, since the host alone knows. A browser does not tell a page why it was refused. */
  private later(message: string): void {
    if (this.ended) return;
    if (Date.now() - this.lastOpen > keptFor) return this.giveUp(this.begun ? goneText : message || 'The terminal cannot be opened.');
    this.events.state(this.begun ? 'broken' : 'connecting', message);
    setTimeout(() => void this.connect(), this.pause * (0.75 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, longestPause);
  }
}
