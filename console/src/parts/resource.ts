// A kind of the API, described once: list, detail and create pages are made from it (resource_pages.tsx).
import type { ReactNode } from 'react';
import type { Item, ListPath, Method } from '../api/client';
import type { Place } from '../api/permissions';
import type { Kind } from '../api/use_read';
import type { Write } from './use_deed';
import type { Fact } from './values';

export interface Column<T> {
  key: string;
  title: string;
  /** For order and search. */
  value: (item: T) => string | number | undefined;
  /** Drawn in place of the value. */
  cell?: (item: T) => ReactNode;
  /** CSS width; columns without one share the rest. */
  width?: string;
  align?: 'right';
  /** Not on cards of a narrow page. */
  wideOnly?: boolean;
}

export interface Filter {
  /** Of the API's query: "state". */
  name: string;
  label: string;
  /** Fixed values; without them a text. */
  values?: readonly (string | { value: string; label: string })[];
}

export interface FormField {
  /** Path in the body: "template.cmd". */
  name: string;
  label: string;
  /** `set`: some of the values; `duration`: "2h", sent in seconds. */
  kind?: 'text' | 'number' | 'choice' | 'flag' | 'words' | 'set' | 'labels' | 'long' | 'secret' | 'duration';
  help?: string;
  placeholder?: string;
  required?: boolean;
  /** Values of a choice. */
  values?: readonly string[];
  /** Values of a choice (or of words) from a list of the API, by a field of its items. */
  valuesFrom?: { path: ListPath & string; field: string; help?: string };
  /** A flag with one is always sent; a text, choice or list with one is sent when it is emptied, too. */
  initial?: unknown;
  /** Of a number: with a decimal point. */
  decimal?: boolean;
  /** Behind "More options". */
  more?: boolean;
}

/** A write, and all that is said about it. */
export interface Deed<T> {
  label: string;
  method: Method;
  path: string;
  /** Of the path. */
  params?: (item: T) => Record<string, string>;
  query?: (item: T) => Record<string, string | boolean | undefined>;
  body?: (item: T) => Record<string, unknown>;
  permission: string;
  /** "volume delete". */
  command: string;
  /** What it will do, before it is done. */
  plan: (item: T) => ReactNode;
  /** Said when the API has done it. */
  done: string;
  /** Typed to confirm; for deletions. */
  confirmName?: (item: T) => string;
  /** Values that one gives with it; those of the item to begin with, if it is a function. */
  fields?: readonly FormField[] | ((item: T) => readonly FormField[]);
  /** Its fields are words of the query, as those of a DELETE. */
  inQuery?: boolean;
  /** Completes or changes the body before it is sent and shown. */
  shape?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Shown only where it makes sense. */
  when?: (item: T) => boolean;
  /** Below the fields: a preview of the result. */
  preview?: (write: Write) => ReactNode;
  /** Operations without ?dryRun=true. */
  noDryRun?: boolean;
  danger?: boolean;
  /** Of the button that does nothing, in place of "Cancel". */
  dismiss?: string;
  /** Shown once after the deed, for secrets and links. */
  answer?: (answer: unknown) => ReactNode;
}

export interface Creation {
  label: string;
  method?: Method;
  path: string;
  permission: string;
  /** "volume create". */
  command: string;
  /** Field that the command takes without a flag. */
  argument?: string;
  fields: readonly FormField[];
  /** Completes or changes the body before it is sent and shown. */
  shape?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** One sentence above the form. */
  lead?: string;
  done: string;
  /** Page that opens then; without it the list. */
  then?: (answer: Record<string, unknown>) => string | undefined;
  /** Above the button: a preview of the result. */
  plan?: (body: Record<string, unknown>) => ReactNode;
  /** Shown once in place of a page, for secrets and links. */
  answer?: (answer: Record<string, unknown>) => ReactNode;
}

export interface Resource<T> {
  /** "volume" */
  noun: string;
  /** "volumes", for counts; without it the title in small letters. */
  plural?: string;
  /** "Volumes": title of the list. */
  title: string;
  /** Path of the API's list. */
  path: ListPath & string;
  /** Route: "/volumes". */
  page: string;
  /** Kinds of /v1/watch that make the list old. */
  kinds: Kind[];
  permission: string;
  id: (item: T) => string;
  /** Unique in the list, where the id is so in its tenant only. */
  rowKey?: (item: T) => string;
  name: (item: T) => string;
  place?: (item: T) => Place;
  columns: Column<T>[];
  filters?: Filter[];
  /** Fixed words of the list's query. */
  query?: Record<string, string | boolean>;
  /** A query of the list (docs/use/api.md), for its field; false: the list takes none. */
  queryExample?: string | false;
  empty: { text: string; command: string };
  lead?: string;
  create?: Creation;
  actions?: Deed<T>[];
  /** Labels of actions that stand in the rows, too. */
  rowActions?: string[];
  /** CSS width of their column; without one it has room for all of them side by side. */
  actionsWidth?: string;
  /** Page of one item; without it the list has no links. */
  detail?: {
    /** "/v1/volumes/{volume}"; without it the item is taken from the list. */
    path: string;
    param: string;
    query?: (search: URLSearchParams) => Record<string, string | undefined>;
    facts: (item: T) => Fact[];
    badges?: (item: T) => ReactNode;
    sections?: (item: T) => ReactNode;
  };
  /** Drawn above the list. */
  above?: () => ReactNode;
}

export const rowKeyOf = <T>(kind: Resource<T>, item: T): string => (kind.rowKey ?? kind.id)(item);

/** Checks a description against the type of its list's items: `resource('/v1/volumes', {...})`. */
export function resource<P extends ListPath & string>(
  path: P,
  description: Omit<Resource<Item<P>>, 'path'>,
): Resource<Item<P>> {
  return { ...description, path };
}
