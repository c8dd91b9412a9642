// The audit as a file: all records that the filters leave, read by pages.
import { type Query, type Schemas, send } from '../../api/client';
import { csvOf } from '../../parts/download';

export type Entry = Schemas['AuditEntry'];

export const exportMax = 20_000;

interface Page {
  items: Entry[];
  nextCursor?: string;
}

/** At most `exportMax` records, the newest first; `told` hears how many there are so far. */
export async function readAudit(query: Query, told: (count: number) => void): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await send<Page>('GET', '/v1/audit', { query: { ...query, limit: 1000, cursor } });
    entries.push(...page.items);
    told(entries.length);
    cursor = page.nextCursor || undefined;
  } while (cursor && entries.length < exportMax);
  return entries;
}

const columns = ['time', 'actor', 'operation', 'subject', 'tenantID', 'project', 'zone', 'result', 'status', 'reason', 'address', 'client', 'before', 'after', 'position', 'hash'];

export function auditCsv(entries: readonly Entry[]): string {
  return csvOf(columns, entries);
}

/** A line of JSON for each record, as `hostler audit export` writes them. */
export function auditLines(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

export interface Verified {
  records: number;
  seals: number;
  beforeChain: number;
  findings: Schemas['AuditFinding'][];
  wrong: number;
}

/** Checks the whole chain part by part. */
export async function verifyAudit(told: (count: number) => void): Promise<Verified> {
  const sum: Verified = { records: 0, seals: 0, beforeChain: 0, findings: [], wrong: 0 };
  let after: string | undefined;
  do {
    const part: Schemas['AuditVerification'] = await send('GET', '/v1/audit/verification', { query: { after } });
    sum.records += part.records;
    sum.seals += part.seals;
    sum.beforeChain += part.beforeChain;
    sum.wrong += part.wrong;
    sum.findings.push(...part.findings);
    told(sum.records);
    after = part.next || undefined;
  } while (after);
  return sum;
}
