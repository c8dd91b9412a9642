// Small values on pages: money, bytes, times, ids. Unknown is a dash.
import { ActionIcon, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { Check, Copy, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { agoText, bytesText, durationText, moneyText } from './words';

/** An amount with two digits, and what it is for: `<Money amount="2.49" currency="USD" per="h" />`. */
export function Money({ amount, currency, per }: { amount?: string | number; currency?: string; per?: string }) {
  const text = moneyText(amount, currency);
  return <span className="number">{per && amount !== undefined && amount !== '' ? `${text}/${per}` : text}</span>;
}

/** A size in binary units. */
export function Bytes({ value }: { value?: number }) {
  return (
    <span className="number" title={value === undefined ? undefined : `${value} bytes`}>
      {bytesText(value)}
    </span>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 5000, { autoInvoke: true });
  return now;
}

/** A time as distance from now; the absolute time in its title. */
export function Ago({ time }: { time?: string }) {
  const now = useNow();
  return (
    <time dateTime={time} title={time ? new Date(time).toLocaleString() : undefined}>
      {agoText(time, now)}
    </time>
  );
}

/** From a time to another one, or to now. */
export function Lasting({ from, to }: { from?: string; to?: string }) {
  const now = useNow();
  if (!from) return <Unknown />;
  return <span className="number">{durationText(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000)}</span>;
}

/** Copies by a selection: navigator.clipboard is absent over plain http. */
function copySelected(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  const before = document.activeElement;
  // Within a dialog, which takes the focus back from all that is outside.
  (before?.closest('[role=dialog]') ?? document.body).append(field);
  field.focus();
  field.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // A browser without it.
  }
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

/** Whether the text is in the clipboard now. */
async function copyText(text: string): Promise<boolean> {
  try {
    if (!window.isSecureContext || !navigator.clipboard) return copySelected(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

const copyWords = { copied: 'Copied', failed: 'The browser does not let the page copy. Select the text and copy it.' };

/** A button that copies a text. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [result, setResult] = useState<keyof typeof copyWords>();
  const copy = async () => {
    const copied = await copyText(text);
    setResult(copied ? 'copied' : 'failed');
    setTimeout(() => setResult(undefined), copied ? 1500 : 6000);
  };
  const Icon = result === undefined ? Copy : result === 'copied' ? Check : X;
  return (
    <>
      <Tooltip label={result ? copyWords[result] : `Copy ${what}`} opened={result ? true : undefined} multiline maw={280}>
        <ActionIcon variant="subtle" color={result === 'failed' ? 'red' : 'gray'} size="sm" aria-label={`Copy ${what}`} onClick={() => void copy()}>
          <Icon size={14} />
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden role="status">{result && copyWords[result]}</VisuallyHidden>
    </>
  );
}

/** An id or another word for programs, with copy. */
export function Id({ value }: { value?: string }) {
  if (!value) return <Unknown />;
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
      <Text component="code" ff="monospace" fz="sm" className="breakable">
        {value}
      </Text>
      <CopyButton text={value} what={value} />
    </Group>
  );
}

export function Unknown() {
  return <span aria-label="unknown">–</span>;
}

export interface Fact {
  name: string;
  value: ReactNode;
}

/** A list of names and values. Unknown (undefined, empty) is a dash, never 0. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === undefined || value === null || value === '' ? <Unknown /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
