// The part of the cloud that a queue has, against the one that it is entitled to and the one that is guaranteed.
import { Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { percentText, type Queue } from './tree';

const colors = { within: 'blue', beyond: 'violet' } as const;

function wordsOfShare({ shareMilli, entitledMilli, guaranteedMilli }: Queue): string {
  const guaranteed = guaranteedMilli > 0 ? `, ${percentText(guaranteedMilli)} guaranteed` : '';
  return `${percentText(shareMilli)} of the cloud, entitled to ${percentText(entitledMilli)}${guaranteed}`;
}

/** `scale`: the part of the cloud, in thousandths, that fills it. */
export function ShareBar({ queue, scale, label }: { queue: Queue; scale: number; label: string }) {
  const { shareMilli, entitledMilli, guaranteedMilli } = queue;
  const width = (milli: number) => `${Math.min(100, Math.max(0, (100 * milli) / scale))}%`;
  const within = Math.min(shareMilli, entitledMilli);
  const text = wordsOfShare(queue);
  return (
    <Tooltip label={text}>
      <div className="share-bar" role="img" aria-label={`${label}: ${text}`}>
        <div className="bar">
          <span style={{ width: width(within), background: `var(--mantine-color-${colors.within}-filled)` }} />
          <span style={{ width: width(shareMilli - within), background: `var(--mantine-color-${colors.beyond}-filled)` }} />
        </div>
        {guaranteedMilli > 0 && <i className="guaranteed" style={{ width: width(guaranteedMilli) }} />}
        <i className="entitled" style={{ left: width(entitledMilli) }} />
      </div>
    </Tooltip>
  );
}

export function ShareLegend() {
  const swatch = (color: string) => <span className="swatch" style={{ background: `var(--mantine-color-${color}-filled)` }} aria-hidden />;
  const entry = (sign: ReactNode, words: string) => <Group key={words} gap={6} wrap="nowrap">{sign}<Text fz="xs" c="dimmed">{words}</Text></Group>;
  return (
    <Group gap="md">
      {entry(swatch(colors.within), 'has, within what it is entitled to')}
      {entry(swatch(colors.beyond), 'has beyond it')}
      {entry(<span className="share-sign entitled" aria-hidden />, 'entitled to')}
      {entry(<span className="share-sign guaranteed" aria-hidden />, 'guaranteed')}
    </Group>
  );
}
