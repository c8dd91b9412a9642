// Amounts of quotas: "8", "0.5", "512Gi", "500m".
const factors: Record<string, number> = {
  '': 1, m: 0.001, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50,
};

/** As a number; NaN where the text is none. */
export function amountOf(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text.trim()) ?? [];
  return number === undefined ? Number.NaN : Number(number) * (factors[unit] ?? Number.NaN);
}

interface Use {
  limit: string;
  guaranteed: string;
  used: string;
}

interface Shares {
  /** Used of the part that others cannot borrow. */
  own: number;
  /** Used beyond that part. */
  borrowed: number;
  limit: number;
  guaranteed: number;
  over: boolean;
}

/** How what is used divides into the guaranteed and the borrowed part. */
export function sharesOf(use: Use): Shares {
  const [limit, guaranteed, used] = [amountOf(use.limit), amountOf(use.guaranteed) || 0, amountOf(use.used)];
  const own = guaranteed > 0 ? Math.min(used, guaranteed) : used;
  return { own, borrowed: used - own, limit, guaranteed, over: used > limit };
}

export interface Limit {
  resource: string;
  limit: string;
  guaranteed?: string;
}

/** The used part of the limit, at most 1; undefined where use or limit is no amount. */
export function fractionUsed({ used, limit }: Pick<Use, 'used' | 'limit'>): number | undefined {
  const part = amountOf(used) / amountOf(limit);
  return Number.isFinite(part) ? Math.min(1, part) : undefined;
}

/** "gpus:H100=4,guaranteed=2" as the API takes it. */
export function limitOf(text: string): Limit {
  const [first = '', ...rest] = text.split(',');
  const at = first.lastIndexOf('=');
  const guaranteed = rest.find((one) => one.trim().startsWith('guaranteed='))?.split('=')[1];
  return { resource: at < 0 ? first.trim() : first.slice(0, at).trim(), limit: at < 0 ? '' : first.slice(at + 1).trim(), ...(guaranteed ? { guaranteed } : {}) };
}

/** The words of a form for limits that are set. */
export function limitText({ resource, limit, guaranteed }: Limit): string {
  return `${resource}=${limit}${guaranteed && amountOf(guaranteed) > 0 ? `,guaranteed=${guaranteed}` : ''}`;
}
