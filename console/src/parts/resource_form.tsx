import { Button, Collapse, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Call, Method } from '../api/client';
import type { Problem } from '../api/problem';
import { FormFieldInput } from './form_field';
import { bodyOf, initialValues, keyOf, placeErrors, restOf, secretNames, type Values } from './form_values';
import type { FormField } from './resource';
import { ShowAs } from './show_as';
import { Refusal } from './states';
import { useDeed } from './use_deed';

interface Props {
  fields: readonly FormField[];
  method?: Method;
  path: string;
  call?: Omit<Call, 'body'>;
  command: string;
  argument?: string;
  submit: string;
  done: string;
  kinds: string[];
  initial?: Values;
  /** Completes or changes the body before it is sent and shown. */
  shape?: (body: Record<string, unknown>) => Record<string, unknown>;
  onDone?: (answer: unknown) => void;
  /** Above the button: what it will do. */
  plan?: (body: Record<string, unknown>) => ReactNode;
  danger?: boolean;
}

/** A form of one write: fields, the API's field errors at them, the same as command and curl line. */
export function ResourceForm({ fields, method = 'POST', path, call = {}, shape = (body) => body, ...rest }: Props) {
  const [refused, setRefused] = useState<Problem>();
  const form = useForm<Values>({ initialValues: initialValues(fields, rest.initial), onValuesChange: () => setRefused(undefined) });
  const [moreShown, more] = useDisclosure(false);
  const deed = useDeed({ kinds: rest.kinds, done: rest.done, onDone: rest.onDone });
  const body = shape(bodyOf(fields, form.values));

  const submit = () => {
    setRefused(undefined);
    form.clearErrors();
    deed.mutate(
      { method, path, call: { ...call, body } },
      {
        onError: (problem) => {
          const { at, others } = placeErrors(fields, problem.errors);
          form.setErrors(at);
          if (fields.some((field) => field.more && at[field.name])) more.open();
          setRefused(restOf(problem, others));
        },
      },
    );
  };
  const inputs = (some: readonly FormField[]) =>
    some.map((field) => <FormFieldInput key={field.name} field={field} input={form.getInputProps(keyOf(field.name))} />);
  const hidden = fields.filter((field) => field.more);

  return (
    <form onSubmit={form.onSubmit(submit)} noValidate>
      <Stack gap="md" maw={640}>
        {inputs(fields.filter((field) => !field.more))}
        {hidden.length > 0 && (
          <div>
            <Button variant="subtle" size="compact-sm" onClick={more.toggle} aria-expanded={moreShown}
              leftSection={moreShown ? <ChevronDown size={14} /> : <ChevronRight size={14} />}>
              More options
            </Button>
            <Collapse expanded={moreShown}>
              <Stack gap="md" mt="sm">{inputs(hidden)}</Stack>
            </Collapse>
          </div>
        )}
        {refused && <Refusal problem={refused} />}
        {rest.plan && <Text component="div">{rest.plan(body)}</Text>}
        <Group>
          <Button type="submit" loading={deed.isPending} color={rest.danger ? 'red' : undefined}>
            {rest.submit}
          </Button>
        </Group>
        <ShowAs command={rest.command} argument={rest.argument} method={method} path={path} body={body} hidden={secretNames(fields)} />
      </Stack>
    </form>
  );
}
