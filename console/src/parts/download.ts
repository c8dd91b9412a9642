// Files for the user: what the API answers as text, or what the page has made.
import { ownHeader, type Query } from '../api/client';
import { decodeProblem } from '../api/problem';

export function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The text of a GET, in the format that its query names. Throws a Problem. */
export async function fetchText(path: string, query: Query): Promise<string> {
  const words = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(words.map(([name, value]) => [name, String(value)]));
  const response = await fetch(`${path}?${search}`, { headers: ownHeader, credentials: 'same-origin' });
  if (!response.ok) throw await decodeProblem(response);
  return response.text();
}

const needsQuotes = /[",\r\n]/;

/** A cell of a CSV file. A formula is disarmed, since programs for tables would calculate it. */
export function csvCell(value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns: readonly string[], rows: readonly object[]): string {
  const lines = rows.map((row) => columns.map((column) => csvCell((row as Record<string, unknown>)[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}
