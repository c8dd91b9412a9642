// Between the flat values of a form and the body of a request.
import { type FieldProblem, Problem } from '../api/problem';
import type { FormField } from './resource';

export type Values = Record<string, unknown>;

const blank: Record<NonNullable<FormField['kind']>, unknown> = {
  text: '', number: '', choice: '', flag: false, words: [], set: [], labels: [], long: '', secret: '', duration: '',
};

// Mantine reads a dot in a name as a path, so names are kept with another sign.
export const keyOf = (name: string) => name.replaceAll('.', '/');

/** A value from the URL is a text, also that of a list. */
function initialOf(field: FormField, given: unknown): unknown {
  const empty = blank[field.kind ?? 'text'];
  if (typeof given !== 'string') return given ?? field.initial ?? empty;
  if (Array.isArray(empty)) return given.split(',');
  return typeof empty === 'boolean' ? given === 'true' : given;
}

export function initialValues(fields: readonly FormField[], given: Values = {}): Values {
  return Object.fromEntries(fields.map((field) => [keyOf(field.name), initialOf(field, given[field.name])]));
}

function labelMap(entries: string[]): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [entry.split('=')[0] ?? entry, entry.split('=').slice(1).join('=')]));
}

const secondsOf: Record<string, number> = { s: 1, m: 60, min: 60, h: 3600, d: 86_400, w: 604_800 };

/** "90", "2h", "1d 12h" as seconds; what is none stays a text, which the API refuses. */
export function durationOf(text: string): number | string {
  const parts = text.trim().split(/(?<=[a-z])\s*/).filter(Boolean);
  const sum = parts.reduce((total, part) => {
    const [, number, unit] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(part) ?? [];
    return total + Number(number) * (secondsOf[unit || 's'] ?? Number.NaN);
  }, 0);
  return parts.length === 0 || Number.isNaN(sum) ? text : sum;
}

/** Whether it began with something that has been taken out. */
const emptied = ({ kind = 'text', initial }: FormField): boolean =>
  ['text', 'long', 'choice', 'words', 'set'].includes(kind) && (Array.isArray(initial) ? initial.length > 0 : Boolean(initial));

function valueOf(field: FormField, value: unknown): unknown {
  if (field.kind === 'flag' && field.initial !== undefined) return Boolean(value);
  if (emptied(field) && (value === '' || value === null || Array.isArray(value))) return value ?? '';
  if (field.kind === 'duration' && typeof value === 'string' && value) return durationOf(value);
  if (value === '' || value === null || value === false || value === undefined) return undefined;
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (field.kind === 'labels') return labelMap(value as string[]);
  return value;
}

/** Fields whose values are not to be shown. */
export const secretNames = (fields: readonly FormField[]) => fields.filter(({ kind }) => kind === 'secret').map(({ name }) => name);

/** The body: absent where nothing was given, nested where the name has dots. */
export function bodyOf(fields: readonly FormField[], values: Values): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(field, values[keyOf(field.name)]);
    if (value === undefined) continue;
    const steps = field.name.split('.');
    const last = steps.pop() ?? field.name;
    let at = body;
    for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return body;
}

/** Refusals at the fields of this form, and those that belong to none of them. */
export function placeErrors(fields: readonly FormField[], errors: FieldProblem[]) {
  const at: Record<string, string> = {};
  const others: FieldProblem[] = [];
  for (const error of errors) {
    const field = fields.find(({ name }) => error.field === name || error.field.startsWith(`${name}[`) || error.field.startsWith(`${name}.`));
    if (field) at[keyOf(field.name)] = error.message;
    else others.push(error);
  }
  return { at, others };
}

/** A refusal without what is shown at the fields; absent when all of it is. */
export function restOf(problem: Problem, others: FieldProblem[]): Problem | undefined {
  if (problem.errors.length > 0 && others.length === 0) return undefined;
  return new Problem({ ...problem, sentence: problem.sentence, errors: others });
}
