// The terminal itself, loaded when one is opened.
import '@xterm/xterm/css/xterm.css';
import { Alert, Button, Group, Text } from '@mantine/core';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Xterm } from '@xterm/xterm';
import { useCallback, useEffect, useRef, useState } from 'react';
import { randomName } from '../api/client';
import { Claim } from './claim';
import { Session, type SessionState } from './session';

interface Kept {
  identity: string;
  /** End of what was on screen, for a page that is loaded again. */
  screen: string;
  lastOpen: number;
  /** Start of the instance's run: with another one the session has ended. */
  run?: string;
}

// bash where the image has it, as `hostler ssh`.
const shell = ['/bin/sh', '-c', '[ -x /bin/bash ] && exec /bin/bash -l; exec /bin/sh -l'];
const screenMax = 100_000;
const keyOf = (instance: string) => `terminal ${instance}`;

function kept(instance: string, runs: string | undefined): Kept | undefined {
  const text = sessionStorage.getItem(keyOf(instance));
  const found = text ? (JSON.parse(text) as Kept) : undefined;
  return found?.run === runs ? found : undefined;
}

function keep(instance: string, value: Kept): void {
  sessionStorage.setItem(keyOf(instance), JSON.stringify(value));
}

function forget(instance: string): void {
  sessionStorage.removeItem(keyOf(instance));
}

function makeXterm(box: HTMLElement): { xterm: Xterm; fit: FitAddon } {
  const xterm = new Xterm({
    fontSize: 13,
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
    theme: { background: '#16181d' },
    scrollback: 5000,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    screenReaderMode: false,
  });
  const fit = new FitAddon();
  xterm.loadAddon(fit);
  xterm.open(box);
  fit.fit();
  return { xterm, fit };
}

interface Props {
  instance: string;
  tenantID?: string;
  /** When the instance began to run. */
  since?: string;
}

/** A terminal takes every Tab: this leads out of it. Once the shell has ended, Tab does. */
const isWayOut = ({ key, ctrlKey, shiftKey }: KeyboardEvent) => key === 'Enter' && ctrlKey && shiftKey;

/** To the tab of the page that shows it; without one, to the page. */
function leave(box: HTMLElement): void {
  const tab = box.closest('[role=tabpanel]')?.getAttribute('aria-labelledby');
  const next = tab ? document.getElementById(tab) : null;
  if (next) next.focus();
  else (document.activeElement as HTMLElement | null)?.blur();
}

interface Running {
  session: Session;
  xterm: Xterm;
  stop: () => void;
}

type Tell = (state: SessionState, message: string) => void;

/**
 * Draws what was on screen before, and passes on what is typed only then. Programs asked questions in it (what the terminal
 * is, where the cursor stands) that were answered long ago: answers now would be typed into the shell.
 */
export function replay(xterm: Xterm, screen: string, type: (text: string) => void): void {
  xterm.write(screen, () => xterm.onData(type));
}

/** Begins a session, or comes back to the one that this tab had. */
function run(box: HTMLElement, { instance, tenantID, since }: Props, tell: Tell): Running {
  const { xterm, fit } = makeXterm(box);
  const before = kept(instance, since);
  const identity = before?.identity ?? randomName();
  let screen = before?.screen ?? '';
  let ended = false;
  xterm.attachCustomKeyEventHandler((event) => {
    if (!isWayOut(event)) return !(ended && event.key === 'Tab');
    event.preventDefault();
    if (event.type === 'keydown') leave(box);
    return false;
  });
  const decoder = new TextDecoder();
  const session = new Session(
    { instance, tenantID, identity, lastOpen: before?.lastOpen, command: shell, rows: xterm.rows, columns: xterm.cols },
    {
      output: (data) => {
        xterm.write(data);
        screen = (screen + decoder.decode(data, { stream: true })).slice(-screenMax);
      },
      state: (state, message) => {
        ended = state === 'ended';
        if (ended) forget(instance);
        tell(state, message);
      },
    },
  );
  const save = () => keep(instance, { identity, screen, lastOpen: session.lastOpenAt, run: since });
  const saveIfKept = () => sessionStorage.getItem(keyOf(instance)) && save();
  save();
  replay(xterm, screen, (text) => session.type(text));
  xterm.onResize(({ rows, cols }) => session.resize(rows, cols));
  const size = new ResizeObserver(() => fit.fit());
  size.observe(box);
  addEventListener('pagehide', saveIfKept);
  const claim = new Claim(identity, () => session.leave());
  void session.connect();
  xterm.focus();
  const stop = () => {
    claim.close();
    session.close();
    saveIfKept();
    removeEventListener('pagehide', saveIfKept);
    size.disconnect();
    xterm.dispose();
  };
  return { session, xterm, stop };
}

const keys: [string, string][] = [
  ['Esc', '\x1b'], ['Tab', '\t'], ['Ctrl-C', '\x03'], ['Ctrl-D', '\x04'], ['Ctrl-Z', '\x1a'],
  ['↑', '\x1b[A'], ['↓', '\x1b[B'], ['←', '\x1b[D'], ['→', '\x1b[C'],
];

function KeyBar({ type }: { type: (text: string) => void }) {
  return (
    <Group gap={4} hiddenFrom="sm" mt="xs" role="toolbar" aria-label="Keys">
      {keys.map(([label, text]) => (
        <Button key={label} size="compact-xs" variant="default" onClick={() => type(text)}>{label}</Button>
      ))}
    </Group>
  );
}

const words: Record<SessionState, string> = {
  connecting: 'Connecting…',
  open: 'Connected',
  broken: 'The connection is lost. It returns by itself; the shell keeps running.',
  elsewhere: 'In another tab',
  ended: 'Ended',
};

/** Says why the terminal has ended, with a button for a new one. */
function Over({ state, message, again, another }: { state: SessionState; message: string; again: () => void; another: () => void }) {
  if (state === 'elsewhere')
    return (
      <Alert color="gray" mt="xs" title="This terminal is open in another tab.">
        <Group gap="xs">
          <Button size="xs" onClick={again}>Take it back</Button>
          <Button size="xs" variant="default" onClick={another}>New session</Button>
        </Group>
      </Alert>
    );
  return state === 'ended' && <Alert color="gray" mt="xs" title={message}><Button size="xs" onClick={another}>New session</Button></Alert>;
}

/** A shell in an instance. It outlives a reload of the page and the loss of its gateway or access point. */
export default function TerminalView(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const running = useRef<Running>(null);
  const [round, setRound] = useState(0);
  const [state, setState] = useState<SessionState>('connecting');
  const [message, setMessage] = useState('');
  const { instance, tenantID, since } = props;
  useEffect(() => {
    if (!box.current) return undefined;
    const tell: Tell = (next, said) => {
      setState(next);
      setMessage(said);
    };
    running.current = run(box.current, { instance, tenantID, since }, tell);
    return () => running.current?.stop();
  }, [instance, tenantID, since, round]);
  const type = useCallback((text: string) => {
    running.current?.session.type(text);
    running.current?.xterm.focus();
  }, []);
  const again = () => setRound(round + 1);
  const another = () => {
    forget(instance);
    again();
  };
  const waits = state === 'broken' || state === 'connecting';
  return (
    <div>
      <div ref={box} className="shell" data-state={state} />
      <KeyBar type={type} />
      <Group mt="xs" gap="sm" role="status">
        <Text fz="sm" c="dimmed">{words[state]}</Text>
        {state === 'open' && <Text fz="sm" c="dimmed" visibleFrom="sm">Ctrl-Shift-Enter leaves the terminal.</Text>}
        {message && waits && <Text fz="sm" c="red">{message}</Text>}
      </Group>
      <Over state={state} message={message} again={again} another={another} />
    </div>
  );
}
