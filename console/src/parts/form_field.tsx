import { NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useList } from '../api/use_read';
import type { FormField } from './resource';

interface Props {
  field: FormField;
  input: GetInputPropsReturnType;
}

function useValues({ values, valuesFrom }: FormField): string[] {
  const path = valuesFrom?.path ?? '/v1/zones';
  const list = useList(path, { limit: 200 }, { enabled: valuesFrom !== undefined });
  if (!valuesFrom) return [...(values ?? [])];
  const items = (list.data?.pages ?? []).flatMap((page) => page.items as Record<string, unknown>[]);
  return [...new Set(items.map((item) => String(item[valuesFrom.field])))];
}

/** One field of a form, by its kind. */
export function FormFieldInput({ field, input }: Props) {
  const values = useValues(field);
  const common = {
    label: field.label,
    description: field.help,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    ...input,
  };
  switch (field.kind) {
    case 'number': return <NumberInput {...common} allowDecimal={false} />;
    case 'choice': return <Select {...common} value={(input.value as string) || null} data={values} searchable clearable={!field.required} />;
    case 'flag': return <Switch label={field.label} description={field.help} checked={Boolean(input.value)} onChange={input.onChange} />;
    case 'words': return <TagsInput {...common} data={values} />;
    case 'labels': return <TagsInput {...common} placeholder={field.placeholder ?? 'team=ml'} />;
    case 'long': return <Textarea {...common} autosize minRows={3} />;
    case 'secret': return <PasswordInput {...common} autoComplete="new-password" />;
    default: return <TextInput {...common} />;
  }
}
