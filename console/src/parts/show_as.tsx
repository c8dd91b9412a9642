import { Code, Group, Tabs } from '@mantine/core';
import { commandLine, curlLine, type Shown } from './command_line';
import { CopyButton } from './values';
import { applyDocument } from './yaml';

function Line({ text, what = 'the line' }: { text: string; what?: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Code block className="line" tabIndex={0}>
        {text}
      </Code>
      <CopyButton text={text} what={what} />
    </Group>
  );
}

/** The command line and the request that do the same, live as one types; with `kind` also the document for `hostler apply`. */
export function ShowAs({ kind, ...shown }: Shown & { kind?: string }) {
  return (
    <Tabs defaultValue="cli" variant="outline" keepMounted={false}>
      <Tabs.List aria-label="Show as">
        <Tabs.Tab value="cli">CLI</Tabs.Tab>
        <Tabs.Tab value="curl">curl</Tabs.Tab>
        {kind && <Tabs.Tab value="yaml">YAML</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="cli" pt="xs">
        <Line text={commandLine(shown)} />
      </Tabs.Panel>
      <Tabs.Panel value="curl" pt="xs">
        <Line text={curlLine(shown, location.origin)} />
      </Tabs.Panel>
      {kind && <Tabs.Panel value="yaml" pt="xs"><Line text={applyDocument(kind, shown.body ?? {})} what="the document" /></Tabs.Panel>}
    </Tabs>
  );
}
