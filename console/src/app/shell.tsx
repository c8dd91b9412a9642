// The frame of every page: header, navigation, banners, palette, keys.
import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { useWhoami } from '../api/permissions';
import { ConnectionBanner } from '../parts/states';
import { HeaderTools } from './header';
import { KeyHelp, usePageKeys } from './keys';
import { Navigation } from './navigation';
import { Palette } from './palette';
import { Routes } from './routes';

function Brand() {
  return (
    <Link href="/home" className="brand" aria-label="Hostler, home">
      <img src="/console/icon.svg" alt="" width={24} height={24} />
      <span>Hostler</span>
    </Link>
  );
}

export function Shell() {
  const [menuOpen, menu] = useDisclosure(false);
  const [place] = useLocation();
  const who = useWhoami();
  const help = usePageKeys();
  useEffect(() => {
    menu.close();
    window.scrollTo(0, 0);
  }, [place, menu.close]);
  return (
    <>
      <a href="#content" className="skip">Skip to the content</a>
      <AppShell header={{ height: 56 }} navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }} padding="md">
        <AppShell.Header>
          <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
            <Group gap="xs" wrap="nowrap">
              <Burger opened={menuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
              <Brand />
            </Group>
            <HeaderTools who={who} onHelp={help.open} />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label="Pages">
          <Navigation />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1}>
          <ConnectionBanner />
          <Routes />
        </AppShell.Main>
      </AppShell>
      <Palette />
      <KeyHelp opened={help.opened} onClose={help.close} />
    </>
  );
}
