// Keys everywhere: g and a letter opens a page, ? lists them.
import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useOwnPages } from './navigation';

const waits = 1500;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function usePageKeys() {
  const [opened, help] = useDisclosure(false);
  const [, go] = useLocation();
  const own = useOwnPages();
  const begun = useRef(0);
  useHotkeys([['shift+?', help.open], ['?', help.open]]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const pending = Date.now() - begun.current < waits;
      begun.current = event.key === 'g' && !pending ? Date.now() : 0;
      const page = pending && own.find(({ nav }) => nav?.letter === event.key);
      if (!page) return;
      event.preventDefault();
      event.stopPropagation();
      go(page.path);
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, [own, go]);
  return { opened, open: help.open, close: help.close };
}

function Line({ keys, text }: { keys: string[]; text: string }) {
  return (
    <Group justify="space-between">
      <Text>{text}</Text>
      <Group gap={4}>{keys.map((key) => <Kbd key={key}>{key}</Kbd>)}</Group>
    </Group>
  );
}

export function KeyHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const own = useOwnPages();
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="xs">
        <Line keys={['Ctrl', 'K']} text="Search pages, objects, actions" />
        <Line keys={['/']} text="Filter a list" />
        <Line keys={['j', 'k']} text="Next and previous row" />
        <Line keys={['Enter']} text="Open the row" />
        <Line keys={['Ctrl', 'Shift', 'Enter']} text="Leave a terminal" />
        {own.map((page) => page.nav?.letter && <Line key={page.path} keys={['g', page.nav.letter]} text={page.title} />)}
        <Line keys={['?']} text="This list" />
      </Stack>
    </Modal>
  );
}
