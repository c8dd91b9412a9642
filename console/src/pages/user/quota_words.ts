// Quotas as words.

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
