import { Terminal } from '@xterm/xterm';
import { replay } from './terminal_view';

// jsdom has no canvas, and says so at length.
vi.hoisted(() => vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null));

test('questions in replayed output get no answer; later ones do', async () => {
  const xterm = new Terminal();
  const typed: string[] = [];
  replay(xterm, 'before \x1b[c\x1b[6n', (text) => typed.push(text));
  await new Promise<void>((resolve) => xterm.write('', resolve));
  expect(typed).toEqual([]);
  await new Promise<void>((resolve) => xterm.write('\x1b[6n', resolve));
  expect(typed).toEqual(['\x1b[1;8R']);
  xterm.dispose();
});
