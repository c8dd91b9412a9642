import { Button, Collapse, Stack } from '@mantine/core';
import type { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { FormFieldInput } from './form_field';
import { keyOf, type Values } from './form_values';
import type { FormField } from './resource';

interface Props {
  fields: FormField[];
  form: ReturnType<typeof useForm<Values>>;
}

/** Fields of a form; some of them behind "More options", which opens where one of these is wrong. */
export function FieldGroup({ fields, form }: Props) {
  const [open, more] = useDisclosure(false);
  const draw = (some: FormField[]) =>
    some.map((field) => <FormFieldInput key={field.name} field={field} input={form.getInputProps(keyOf(field.name))} />);
  const hidden = fields.filter((field) => field.more);
  const shown = open || hidden.some((field) => form.errors[keyOf(field.name)]);
  return (
    <Stack gap="md" maw={640}>
      {draw(fields.filter((field) => !field.more))}
      {hidden.length > 0 && (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={more.toggle} aria-expanded={shown} leftSection={shown ? <ChevronDown size={14} /> : <ChevronRight size={14} />}>
            More options
          </Button>
          <Collapse expanded={shown}><Stack gap="md" mt="sm">{draw(hidden)}</Stack></Collapse>
        </div>
      )}
    </Stack>
  );
}
