import { EventCutter } from './stream';

test('events are cut however the text comes in pieces', () => {
  const cutter = new EventCutter();
  expect(cutter.push('event: change\r\nid: 1-2\r\nda')).toEqual([]);
  expect(cutter.push('ta: {"kind":"host"}\r\n\r\n: beat\n\nevent: res')).toEqual([
    { event: 'change', id: '1-2', data: '{"kind":"host"}' },
  ]);
  expect(cutter.push('et\n\n')).toEqual([{ event: 'reset', id: '', data: '' }]);
});
