import { ActionIcon, Badge, Button, Group, Indicator, Kbd, Menu, Text, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { Bell, Circle, CircleAlert, CircleDashed, Keyboard, LogOut, Moon, Search, Sun, UserRound } from 'lucide-react';
import { Link } from 'wouter';
import { goToSignIn, type Schemas, send } from '../api/client';
import { useLive } from '../api/live';
import { usePermission } from '../api/permissions';
import type { LiveStatus } from '../api/stream';
import { useRead } from '../api/use_read';
import { SimulatedBadge } from '../parts/state_badge';

const liveWords: Record<LiveStatus, { word: string; color: string; shape: typeof Circle }> = {
  starting: { word: 'connecting', color: 'gray', shape: CircleDashed },
  live: { word: 'live', color: 'green', shape: Circle },
  lost: { word: 'lost', color: 'orange', shape: CircleAlert },
  'no-leader': { word: 'no leader', color: 'orange', shape: CircleAlert },
  'signed-out': { word: 'signed out', color: 'gray', shape: CircleAlert },
};

function LiveSign() {
  const { word, color, shape: Shape } = liveWords[useLive().status];
  return (
    <Tooltip label="Changes appear by themselves while this says live.">
      <Badge variant="transparent" color={color} tt="none" visibleFrom="sm" leftSection={<Shape size={10} fill="currentColor" aria-hidden />}>
        {word}
      </Badge>
    </Tooltip>
  );
}

function AlertCount() {
  const permitted = usePermission('alert.read');
  const alerts = useRead('/v1/alerts', { query: { limit: 100 } }, { kinds: ['alert'], enabled: permitted, every: 60_000 });
  const firing = alerts.data?.items.filter((alert) => alert.state === 'firing' && !alert.isSilenced).length;
  if (!permitted) return null;
  const words = firing === undefined ? 'Alerts' : `${firing} firing ${firing === 1 ? 'alert' : 'alerts'}`;
  return (
    <Tooltip label={words}>
      <Indicator label={firing} disabled={!firing} size={16} color="red" offset={4}>
        <ActionIcon component={Link} href="/alerts" variant="subtle" color="gray" aria-label={firing === undefined ? 'Alerts' : `Alerts: ${firing} firing`}>
          <Bell size={18} />
        </ActionIcon>
      </Indicator>
    </Tooltip>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme() === 'dark';
  const label = dark ? 'Light colours' : 'Dark colours';
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        {dark ? <Sun size={18} /> : <Moon size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

async function signOut(): Promise<void> {
  await send('POST', '/v1/sign-out', { body: {} }).catch(() => undefined);
  sessionStorage.clear();
  goToSignIn();
}

function UserMenu({ who, onHelp }: { who?: Schemas['Whoami']; onHelp: () => void }) {
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="compact-md" leftSection={<UserRound size={16} />} aria-label={`${who?.name ?? ''}, account`}>
          <Text component="span" fz="sm" visibleFrom="sm" maw={160} truncate>{who?.name}</Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{who?.name} {who?.tenantID ? `of ${who.tenantID}` : who?.isOperator ? 'operator' : ''}</Menu.Label>
        <Menu.Item leftSection={<Keyboard size={14} />} onClick={onHelp}>Keys</Menu.Item>
        <Menu.Item component={Link} href="/account" leftSection={<UserRound size={14} />}>Your account</Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={14} />} onClick={() => void signOut()}>Sign out</Menu.Item>
        <Menu.Label>Hostler {who?.version}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}

function SearchButton() {
  return (
    <>
      <Button visibleFrom="sm" variant="default" size="xs" fw={400} c="dimmed" leftSection={<Search size={14} />} rightSection={<Kbd size="xs">Ctrl K</Kbd>} onClick={spotlight.open}>
        Search
      </Button>
      <ActionIcon hiddenFrom="sm" variant="subtle" color="gray" aria-label="Search" onClick={spotlight.open}>
        <Search size={18} />
      </ActionIcon>
    </>
  );
}

export function HeaderTools({ who, onHelp }: { who?: Schemas['Whoami']; onHelp: () => void }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <SearchButton />
      <SimulatedBadge simulated={who?.simulated ?? false} />
      <LiveSign />
      <AlertCount />
      <ThemeSwitch />
      <UserMenu who={who} onHelp={onHelp} />
    </Group>
  );
}
