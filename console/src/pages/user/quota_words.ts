// Quotas as words and as a part of their limit.

const factors: Record<string, number> = {
  '': 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50,
};

export function quantity(text: string): number | undefined {
  const match = /^([0-9.]+)([A-Za-z]*)$/.exec(text);
  const factor = factors[match?.[2] ?? ''];
  return match && factor ? Number(match[1]) * factor : undefined;
}

export function fractionUsed(used: string, limit: string): number | undefined {
  const part = quantity(used);
  const whole = quantity(limit);
  return part === undefined || !whole ? undefined : Math.min(1, part / whole);
}

interface QuotaPlace {
  resource: string;
  tenantID: string;
  project: string;
  name: string;
}

/** "gpus of acme/lab, ann" */
export function quotaName({ resource, tenantID, project, name }: QuotaPlace): string {
  const place = [tenantID, project].filter(Boolean).join('/');
  return [`${resource} of ${place}`, name].filter(Boolean).join(', ');
}
