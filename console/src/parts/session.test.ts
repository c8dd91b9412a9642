import { channel, decodeExit, decodeFrame, encodeFrame, goneText, Ledger, queryText, Session } from './session';

const bytes = (...values: number[]) => new Uint8Array(values);

test('a frame is a byte of channel, eight of number, the data', () => {
  const frame = { channel: channel.output, number: 2 ** 33 + 5, data: bytes(104, 105) };
  const encoded = encodeFrame(frame);
  expect([...encoded]).toEqual([1, 0, 0, 0, 2, 0, 0, 0, 5, 104, 105]);
  expect(decodeFrame(encoded.buffer)).toEqual(frame);
  expect(decodeFrame(new ArrayBuffer(3))).toBeUndefined();
});

test('an exit has a code, and a message when it failed', () => {
  expect(decodeExit(bytes(0, 0, 1, 2))).toEqual({ code: 258, message: '' });
  expect(decodeExit(new Uint8Array([0, 0, 0, 1, ...new TextEncoder().encode('conflict\nr\nit stopped')]))).toEqual({ code: 1, message: 'it stopped' });
});

test('after a loss only what the other side lacks is sent again', () => {
  const ledger = new Ledger();
  ledger.greet(0);
  for (const value of [1, 2, 3]) ledger.add(channel.input, bytes(value));
  expect(ledger.take().map((frame) => frame.number)).toEqual([1, 2, 3]);
  ledger.acknowledged(1);
  ledger.greet(2);
  expect(ledger.take().map((frame) => [frame.number, frame.data[0]])).toEqual([[3, 3]]);
});

test('a page that was loaded again numbers behind what the other side has', () => {
  const ledger = new Ledger();
  ledger.add(channel.resize, bytes(0, 24, 0, 80));
  ledger.greet(41);
  ledger.add(channel.input, bytes(1));
  expect(ledger.take().map((frame) => frame.number)).toEqual([42, 43]);
  expect(ledger.isNew({ channel: 1, number: 7, data: bytes() })).toBe(true);
  expect(ledger.isNew({ channel: 1, number: 7, data: bytes() })).toBe(false);
});

test('bytes that are not acknowledged never exceed the window', () => {
  const ledger = new Ledger();
  ledger.add(channel.input, new Uint8Array(300 * 1024));
  const sent = ledger.take();
  expect(sent.length).toBe(7);
  ledger.acknowledged(sent.length);
  expect(ledger.take().length).toBe(3);
});

test('a blank of a command is no plus sign', () => {
  expect(queryText([['command', 'a b+c'], ['rows', 24]])).toBe('command=a%20b%2Bc&rows=24');
});

describe('a session that was away', () => {
  const tell = vi.fn();
  const options = { instance: 'i-1', identity: 'i'.repeat(16), command: ['sh'], rows: 24, columns: 80 };

  class Refused {
    static OPEN = 1;
    onclose?: () => void;
    constructor() {
      setTimeout(() => this.onclose?.());
    }
    close() {}
  }

  beforeEach(() => {
    tell.mockClear();
    vi.stubGlobal('WebSocket', Refused);
    const ticket = { url: 'ws://gateway/v1/instances/i-1/exec', ticket: 'ht_1', expiresAt: '' };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(ticket), { status: 201, headers: { 'Content-Type': 'application/json' } })));
  });
  afterEach(() => vi.unstubAllGlobals());

  const begin = (away: number) => {
    const session = new Session({ ...options, lastOpen: Date.now() - away }, { output: () => {}, state: tell });
    void session.connect();
    return session;
  };

  test('for longer than its host keeps it has ended at the first refusal', async () => {
    begin(61_000);
    await vi.waitFor(() => expect(tell).toHaveBeenLastCalledWith('ended', goneText));
    expect(tell.mock.calls.map(([state]) => state as string)).toEqual(['connecting', 'ended']);
  });

  test('for a moment comes back, unless another tab takes it', async () => {
    const session = begin(5000);
    await vi.waitFor(() => expect(tell).toHaveBeenLastCalledWith('broken', ''));
    session.leave();
    expect(tell).toHaveBeenLastCalledWith('elsewhere', '');
  });
});
