import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';

interface Props {
  title: string;
  /** Beside the title: state, simulated. */
  badges?: ReactNode;
  /** At the right: buttons. */
  actions?: ReactNode;
  /** The page above this one. */
  up?: { to: string; label: string };
  /** One sentence below the title. */
  lead?: ReactNode;
  children: ReactNode;
}

/** A page: title in the tab and as the one h1, badges, actions, content. */
export function PageFrame({ title, badges, actions, up, lead, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Hostler`;
  }, [title]);
  return (
    <Stack gap="md">
      <div>
        {up && (
          <Anchor component={Link} href={up.to} fz="sm">
            ← {up.label}
          </Anchor>
        )}
        <Group justify="space-between" gap="sm">
          <Group gap="sm">
            <Title order={1} className="breakable">
              {title}
            </Title>
            {badges}
          </Group>
          <Group gap="xs">{actions}</Group>
        </Group>
        {lead && <Text c="dimmed">{lead}</Text>}
      </div>
      {children}
    </Stack>
  );
}

/** A part of a page with a heading. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="tile">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2}>{title}</Title>
        {actions}
      </Group>
      {children}
    </section>
  );
}
