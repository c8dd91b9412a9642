import { Button, Group, Text } from '@mantine/core';
import { Box, Play } from 'lucide-react';
import { Link } from 'wouter';
import { useRead } from '../../api/use_read';

/** One button a template, and one for any image: the first of three clicks to an instance. */
export function TemplateButtons() {
  const templates = useRead('/v1/templates', { query: { limit: 50 } });
  return (
    <Group gap="xs">
      <Text fz="sm" c="dimmed">Start</Text>
      {templates.data?.items.map((template) => (
        <Button key={template.name} component={Link} href={`/start?template=${encodeURIComponent(template.name)}`} variant="light" leftSection={<Play size={14} aria-hidden />}>
          {template.title}
        </Button>
      ))}
      <Button component={Link} href="/start?image=" variant="default" leftSection={<Box size={14} aria-hidden />}>Image…</Button>
    </Group>
  );
}
