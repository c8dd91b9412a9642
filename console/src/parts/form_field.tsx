import { MultiSelect, NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, Text, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useList } from '../api/use_read';
import type { FormField } from './resource';

interface Props {
  field: FormField;
  input: GetInputPropsReturnType;
}

/** Values, each with its help. */
function useValues({ values = [], valuesFrom }: FormField): Map<string, string> {
  const list = useList(valuesFrom?.path ?? '/v1/zones', { limit: 200 }, { enabled: valuesFrom !== undefined });
  if (!valuesFrom) return new Map(values.map((value) => [value, '']));
  const items = (list.data?.pages ?? []).flatMap((page) => page.items as Record<string, unknown>[]);
  return new Map(items.map((item) => [String(item[valuesFrom.field]), valuesFrom.help ? String(item[valuesFrom.help]) : '']));
}

function Option({ value, help }: { value: string; help?: string }) {
  if (!help) return <>{value}</>;
  return (
    <div>
      {value}
      <Text fz="xs" c="dimmed">{help}</Text>
    </div>
  );
}

/** One field of a form, by its kind. */
export function FormFieldInput({ field, input }: Props) {
  const known = useValues(field);
  const values = [...known.keys()];
  const option = ({ option: { value } }: { option: { value: string } }) => <Option value={value} help={known.get(value)} />;
  const common = {
    label: field.label,
    description: field.help,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    ...input,
  };
  switch (field.kind) {
    case 'number': return <NumberInput {...common} allowDecimal={field.decimal ?? false} />;
    case 'choice': return <Select {...common} value={(input.value as string) || null} data={values} renderOption={option} searchable clearable={!field.required} />;
    case 'flag': return <Switch label={field.label} description={field.help} checked={Boolean(input.value)} onChange={input.onChange} />;
    case 'words': return <TagsInput {...common} data={values} />;
    case 'set': return <MultiSelect {...common} data={values} renderOption={option} searchable clearable hidePickedOptions />;
    case 'duration': return <TextInput {...common} placeholder={field.placeholder ?? '2h, 7d'} />;
    case 'labels': return <TagsInput {...common} placeholder={field.placeholder ?? 'team=ml'} />;
    case 'long': return <Textarea {...common} autosize minRows={3} />;
    case 'secret': return <PasswordInput {...common} autoComplete="new-password" />;
    default: return <TextInput {...common} />;
  }
}
