// Small values on pages: money, bytes, times, ids. Unknown is a dash.
import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { Check, Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { agoText, bytesText, moneyText } from './words';

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

/** Copies without navigator.clipboard, which is absent over plain http. */
export function copyText(text: string): void {
  if (window.isSecureContext && navigator.clipboard) {
    void navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  const before = document.activeElement;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
}

/** A button that copies a text. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Copy ${what}`} onClick={copy}>
        {copied ? <Check size={14} /> : <Copy size={14} />}
      </ActionIcon>
    </Tooltip>
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
