// The one file of tokens: accent, font, sizes. Colours of states are in parts/state_badge.tsx.
import { createTheme, type CSSVariablesResolver, Table } from '@mantine/core';

const accent = [
  '#edf2ff', '#dae3fb', '#b2c4f3', '#87a3ec', '#6487e6', '#4d75e2', '#2457d6', '#1f4bbd', '#1841a8', '#0d3794',
] as const;

export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent: [...accent] as never },
  primaryShade: 6,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'sm',
  autoContrast: true,
  respectReducedMotion: true,
  // A table that is wider than the page scrolls by keys, too.
  components: { TableScrollContainer: Table.ScrollContainer.extend({ defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } }) },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.45rem' }, h2: { fontSize: '1.1rem' }, h3: { fontSize: '1rem' } } },
});

// Text on light paper that Mantine draws with less contrast than 4.5:1.
const words = { green: '#1b6329', blue: '#15599b', orange: '#963a00', red: '#a52020', gray: '#4a5058', violet: '#5a35b5' };

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a616a',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-red-text': '#b42323',
    '--mantine-color-orange-text': words.orange,
    ...Object.fromEntries(Object.entries(words).map(([name, color]) => [`--mantine-color-${name}-light-color`, color])),
    '--mantine-color-violet-outline': words.violet,
    '--mantine-color-green-outline': words.green,
  },
  dark: {
    '--mantine-color-dimmed': '#a3a8b0',
    '--mantine-color-placeholder': '#9097a1',
    '--mantine-color-anchor': '#8fb0ff',
  },
});
