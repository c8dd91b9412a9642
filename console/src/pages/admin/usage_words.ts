// Figures of usage reports as words and parts of bars.
import type { Schemas } from '../../api/client';
import type { BarPart } from '../../parts/bars';
import { moneyText } from '../../parts/words';

export type Line = Schemas['UsageLine'];
export type Waste = Schemas['WasteLine'];

export function hoursText(hours: number): string {
  const digits = hours >= 100 || hours === 0 ? 0 : 1;
  return `${hours.toLocaleString('en', { maximumFractionDigits: digits })} h`;
}

export function percentText(value: number | undefined): string {
  return value === undefined ? '–' : `${Math.round(value)} %`;
}

export function costText(costs: readonly Schemas['Cost'][]): string {
  return costs.map(({ amount, currency }) => moneyText(amount, currency)).join(' + ') || '–';
}

/** "acme H100"; a group without a holder is named so. */
export function groupText(labels: Record<string, string>): string {
  return Object.entries(labels).map(([name, value]) => value || `no ${name}`).join(' · ') || 'all';
}

/** Claimed hours: at work, idle, and the rest between both. */
export function claimedParts({ claimedHours, busyHours, idleHours, unknownHours }: Line): BarPart[] {
  const rest = Math.max(0, claimedHours - busyHours - idleHours - unknownHours);
  return [
    { label: 'busy', value: busyHours, color: 'blue' },
    { label: 'partly used', value: rest, color: 'cyan' },
    { label: 'idle', value: idleHours, color: 'orange' },
    { label: 'not measured', value: unknownHours, color: 'gray' },
  ];
}

/** One part of the time: GPUs at work, held and idle, held otherwise, free. */
export function sliceParts({ gpus, claimed, busy, idle }: Schemas['Slice']): BarPart[] {
  return [
    { label: 'busy', value: busy, color: 'blue' },
    { label: 'partly used', value: Math.max(0, claimed - busy - idle), color: 'cyan' },
    { label: 'idle', value: idle, color: 'orange' },
    { label: 'not claimed', value: Math.max(0, gpus - claimed), color: 'gray' },
  ];
}
