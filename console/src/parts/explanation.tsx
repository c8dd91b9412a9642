import { Code, List, Stack, Text } from '@mantine/core';
import { Command, Words } from './states';

interface Why {
  sentence: string;
  /** Absent: not of hosts. */
  blocking?: { host: string; reason: string }[];
  wouldHelp?: string;
}

/** Why something is as it is, and what would help: a command, or a sentence. */
export function ExplanationView({ why }: { why: Why }) {
  const blocking = why.blocking ?? [];
  return (
    <Stack gap="xs">
      <Text>{why.sentence}</Text>
      {blocking.length > 0 && (
        <List size="sm">
          {blocking.map((one) => <List.Item key={one.host + one.reason}><Code>{one.host}</Code> {one.reason}</List.Item>)}
        </List>
      )}
      {why.wouldHelp && <Text fz="sm" c="dimmed">This would help:</Text>}
      {why.wouldHelp && (why.wouldHelp.startsWith('hostler ') ? <Command line={why.wouldHelp} /> : <Text><Words text={why.wouldHelp} /></Text>)}
    </Stack>
  );
}
