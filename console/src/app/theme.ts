// The one file of tokens: accent, font, sizes. Colours of states are in parts/state_badge.tsx.
import { createTheme } from '@mantine/core';

const accent = [
  '#edf2ff', '#dae3fb', '#b2c4f3', '#87a3ec', '#6487e6', '#4d75e2', '#2457d6', '#1f4bbd', '#1841a8', '#0d3794',
] as const;

export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent: [...accent] as never },
  primaryShade: { light: 6, dark: 5 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'sm',
  autoContrast: true,
  respectReducedMotion: true,
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.45rem' }, h2: { fontSize: '1.1rem' }, h3: { fontSize: '1rem' } } },
});
