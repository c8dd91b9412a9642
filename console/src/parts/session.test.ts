import { channel, decodeExit, decodeFrame, encodeFrame, Ledger, queryText } from './session';

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
