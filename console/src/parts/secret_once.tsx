// What the API shows a single time: keys, links, recovery codes.
import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyButton } from './values';

interface Props {
  title: string;
  /** "the key": for the copy button. */
  what: string;
  value: string;
  children?: ReactNode;
}

export function SecretOnce({ title, what, value, children }: Props) {
  return (
    <Alert color="blue" icon={<KeyRound aria-hidden />} title={title}>
      <Stack gap="xs">
        <Text fz="sm">It is shown this once. Copy it now.</Text>
        <Group gap={4} wrap="nowrap">
          <Code block className="line" tabIndex={0}>{value}</Code>
          <CopyButton text={value} what={what} />
        </Group>
        {children}
      </Stack>
    </Alert>
  );
}
