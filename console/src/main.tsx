import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './app/style.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { startLive } from './api/live';
import { mayPass } from './api/problem';
import { Shell } from './app/shell';
import { theme, variables } from './app/theme';

// Set before the first paint; a script in the page would break the content security policy.
const schemes = localStorageColorSchemeManager({ key: 'hostler-colors' });
const wanted = schemes.get('auto');
const dark = wanted === 'dark' || (wanted === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      refetchOnWindowFocus: false,
      // Only what may pass is asked again; a refusal is shown at once.
      retry: (count, error) => mayPass(error) && count < 2,
      networkMode: 'always', // What the browser says of the network is not the way to the masters.
    },
    mutations: { networkMode: 'always' },
  },
});
startLive(cache);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto" colorSchemeManager={schemes}>
      <QueryClientProvider client={cache}>
        <Notifications position="bottom-right" />
        <Router base="/console">
          <Shell />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
