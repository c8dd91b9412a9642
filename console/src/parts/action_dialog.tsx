// The dialog of an action, loaded when one is opened.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { filled, type Query, send } from '../api/client';
import { mayPass, type Problem } from '../api/problem';
import { quoted } from './command_line';
import { FormFieldInput } from './form_field';
import { bodyOf, initialValues, keyOf, placeErrors, restOf, secretNames, type Values } from './form_values';
import type { Deed, FormField } from './resource';
import { ShowAs } from './show_as';
import { Loading, Refusal } from './states';
import { useDeed, type Write } from './use_deed';

function fieldsOf<T>({ fields = [] }: Deed<T>, item: T): readonly FormField[] {
  return typeof fields === 'function' ? fields(item) : fields;
}

function writeOf<T>(deed: Deed<T>, item: T, values: Values): Write {
  const words = bodyOf(fieldsOf(deed, item), values);
  const given = { ...deed.body?.(item), ...(deed.inQuery ? {} : words) };
  const body = deed.shape?.(given) ?? given;
  const hasBody = deed.method !== 'DELETE' || Object.keys(body).length > 0;
  return {
    method: deed.method,
    path: deed.path,
    call: { params: deed.params?.(item), query: { ...deed.query?.(item), ...(deed.inQuery ? (words as Query) : {}) }, body: hasBody ? body : undefined },
  };
}

/** Asks the API first, so that a refusal comes before the question. Deeds with fields are asked about when sent. */
function useDryRun(write: Write, enabled: boolean) {
  return useQuery<unknown, Problem>({
    queryKey: ['dry run', write],
    queryFn: () =>
      send(write.method, write.path, { ...write.call, query: { ...write.call.query, dryRun: true } }).then((answer) => answer ?? true),
    enabled,
    retry: false,
    gcTime: 0,
    staleTime: 0,
  });
}

function Confirmation({ name, typed, onType }: { name: string; typed: string; onType: (text: string) => void }) {
  return (
    <TextInput
      label={<>Type <b>{name}</b> to confirm</>}
      value={typed}
      onChange={(event) => onType(event.currentTarget.value)}
      autoComplete="off"
      data-autofocus
    />
  );
}

function shownPath(write: Write): string {
  const query = Object.entries(write.call.query ?? {}).filter(([, value]) => value !== undefined);
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
  return filled(write.path, write.call.params) + (words ? `?${words}` : '');
}

export interface DialogProps<T> {
  deed: Deed<T>;
  item: T;
  kinds: string[];
  onDone?: (answer: unknown) => void;
  close: () => void;
}

export function ActionDialog<T>({ deed, item, kinds, onDone, close }: DialogProps<T>) {
  const [fields] = useState(() => fieldsOf(deed, item));
  const [typed, setTyped] = useState('');
  const [answer, setAnswer] = useState<ReactNode>();
  const [others, setOthers] = useState<Problem>();
  const form = useForm<Values>({ initialValues: initialValues(fields), onValuesChange: () => setOthers(undefined) });
  const finish = (given: unknown) => {
    onDone?.(given);
    if (deed.answer) setAnswer(deed.answer(given));
    else close();
  };
  const act = useDeed({ kinds, done: deed.done, onDone: finish });
  const write = writeOf(deed, item, form.values);
  const dryRun = useDryRun(write, !deed.noDryRun && fields.length === 0 && act.isIdle);
  const name = deed.confirmName?.(item);
  const argument = Object.values(deed.params?.(item) ?? {}).map(quoted).join(' ');
  const refuse = (problem: Problem) => {
    const placed = placeErrors(fields, problem.errors);
    form.setErrors(placed.at);
    setOthers(restOf(problem, placed.others));
  };
  if (answer) return <Stack>{answer}<Group justify="flex-end"><Button onClick={close}>Close</Button></Group></Stack>;

  const refused = others ?? (dryRun.error ?? undefined);
  const passes = !others && dryRun.error && mayPass(dryRun.error);
  const ready = (name === undefined || typed === name) && !dryRun.isLoading && !dryRun.error;
  return (
    <form onSubmit={form.onSubmit(() => act.mutate(write, { onError: refuse }))} noValidate>
      <Stack gap="md">
        <Text component="div">{deed.plan(item)}</Text>
        {dryRun.isLoading && <Loading lines={1} />}
        {fields.map((field) => <FormFieldInput key={field.name} field={field} input={form.getInputProps(keyOf(field.name))} />)}
        {deed.preview?.(write)}
        {name !== undefined && <Confirmation name={name} typed={typed} onType={setTyped} />}
        {refused && <Refusal problem={refused} retry={passes ? () => void dryRun.refetch() : undefined} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>{deed.dismiss ?? 'Cancel'}</Button>
          <Button type="submit" color={deed.danger ? 'red' : undefined} loading={act.isPending} disabled={!ready}>
            {deed.label}
          </Button>
        </Group>
        <ShowAs command={`${deed.command} ${argument}`.trim()} method={deed.method} path={shownPath(write)} flags={write.call.query} body={write.call.body as Record<string, unknown> | undefined} hidden={secretNames(fields)} />
      </Stack>
    </form>
  );
}
