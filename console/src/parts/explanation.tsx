import { Code, List, Stack, Text } from '@mantine/core';
import type { Schemas } from '../api/client';
import { Command, Words } from './states';

/** Why something is as it is, and what would help: a command, or a sentence. */
export function ExplanationView({ why }: { why: Schemas['Explanation'] }) {
  return (
    <Stack gap="xs">
      <Text>{why.sentence}</Text>
      {why.blocking.length > 0 && (
        <List size="sm">
          {why.blocking.map((one) => <List.Item key={one.host + one.reason}><Code>{one.host}</Code> {one.reason}</List.Item>)}
        </List>
      )}
      {why.wouldHelp && <Text fz="sm" c="dimmed">This would help:</Text>}
      {why.wouldHelp && (why.wouldHelp.startsWith('hostler ') ? <Command line={why.wouldHelp} /> : <Text><Words text={why.wouldHelp} /></Text>)}
    </Stack>
  );
}
