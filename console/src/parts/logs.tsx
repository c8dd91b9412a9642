// Logs of an instance, or of a task of a job, that follow it. The view stays at the end only while one is there.
import { Button, Group, Switch, Text, TextInput } from '@mantine/core';
import { Download, Search } from 'lucide-react';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type Call, read } from '../api/client';
import { asProblem, type Problem } from '../api/problem';
import { downloadText } from './download';
import { Loading, Refusal } from './states';

const linesMax = 10_000;
const textMax = 2_000_000;
const pause = 1000;

// Colours and other sequences for terminals.
const escapes = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)|\u001b[@-_]/g;

export function cleanLog(text: string): string {
  return text.replace(escapes, '').replace(/^[^\n]*\r(?!\n)/gm, '').replaceAll('\r', '');
}

function lastLines(text: string, count: number): string {
  const lines = text.split('\n');
  return lines.length > count ? lines.slice(-count).join('\n') : text;
}

export interface LogSource {
  path: '/v1/instances/{instance}/logs' | '/v1/jobs/{job}/logs';
  params: Record<string, string>;
  query?: Call['query'];
}

interface Followed {
  text: string | undefined;
  problem: Problem | undefined;
  ended: boolean;
}

function useFollowedLog({ path, params, query }: LogSource, follow: boolean): Followed {
  const source = JSON.stringify([path, params, query]);
  const [state, setState] = useState<Followed>({ text: undefined, problem: undefined, ended: false });
  const place = useRef('');
  useEffect(() => {
    place.current = '';
    setState({ text: undefined, problem: undefined, ended: false });
  }, [source]);
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async () => {
      const after = place.current;
      const part = after ? { after } : { tail: 1000 };
      try {
        const logs = await read(path, { params, query: { ...query, ...part, follow: true } });
        if (over) return;
        place.current = logs.next || after;
        setState((before) => ({ text: lastLines((before.text ?? '') + logs.text, linesMax).slice(-textMax), problem: undefined, ended: logs.ended }));
        if (logs.ended && logs.text === '') return;
      } catch (error) {
        if (over) return;
        setState((before) => ({ ...before, problem: asProblem(error) }));
      }
      if (follow) timer = setTimeout(() => void once(), document.hidden ? 5 * pause : pause);
    };
    if (follow || place.current === '') void once();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [source, follow]);
  return state;
}

/** Keeps the box at its end while it is there. */
function useStickyEnd(text: string) {
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const at = box.current;
    if (at) atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
  };
  return { box, onScroll };
}

/** `name`: of the file that it is saved as. */
export function Logs({ name, ...source }: LogSource & { name: string }) {
  const [follow, setFollow] = useState(true);
  const [search, setSearch] = useState('');
  const { text, problem, ended } = useFollowedLog(source, follow);
  const shown = useMemo(() => {
    const clean = cleanLog(text ?? '');
    if (!search) return clean;
    const word = search.toLowerCase();
    return clean.split('\n').filter((line) => line.toLowerCase().includes(word)).join('\n');
  }, [text, search]);
  const { box, onScroll } = useStickyEnd(shown);
  return (
    <div>
      <Group mb="xs" gap="sm">
        <TextInput aria-label="Search the log" placeholder="Only lines with…" leftSection={<Search size={14} aria-hidden />} value={search} onChange={(event) => setSearch(event.currentTarget.value)} />
        <Switch label="Follow" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} />
        <Button variant="default" size="xs" leftSection={<Download size={14} />} onClick={() => downloadText(`${name}.log`, 'text/plain', text ?? '')} disabled={!text}>
          Download
        </Button>
        {ended && <Text fz="sm" c="dimmed">The run has ended.</Text>}
      </Group>
      {problem && <Refusal problem={problem} />}
      {text === undefined && !problem && <Loading lines={8} />}
      {text !== undefined && (
        <pre ref={box} className="log" onScroll={onScroll} tabIndex={0} aria-label="Log">
          {shown || (search ? 'No line has this text.' : 'The program has written nothing yet.')}
        </pre>
      )}
    </div>
  );
}
