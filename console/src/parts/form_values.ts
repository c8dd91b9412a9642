// Between the flat values of a form and the body of a request.
import { type FieldProblem, Problem } from '../api/problem';
import type { FormField } from './resource';

export type Values = Record<string, unknown>;

const blank: Record<NonNullable<FormField['kind']>, unknown> = {
  text: '', number: '', choice: '', flag: false, words: [], labels: [], long: '', secret: '',
};

// Mantine reads a dot in a name as a path, so names are kept with another sign.
export const keyOf = (name: string) => name.replaceAll('.', '/');

export function initialValues(fields: readonly FormField[], given: Values = {}): Values {
  return Object.fromEntries(
    fields.map((field) => [keyOf(field.name), given[field.name] ?? field.initial ?? blank[field.kind ?? 'text']]),
  );
}

function labelMap(entries: string[]): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [entry.split('=')[0] ?? entry, entry.split('=').slice(1).join('=')]));
}

function valueOf(field: FormField, value: unknown): unknown {
  if (value === '' || value === null || value === false || value === undefined) return undefined;
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (field.kind === 'labels') return labelMap(value as string[]);
  return value;
}

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
