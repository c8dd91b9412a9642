import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// Parts of Mantine, React and TanStack that each page needs: one file that changes only with the lock.
const vendor = /node_modules\/(react|react-dom|scheduler|wouter|regexparam|use-sync-external-store|@mantine|@floating-ui|clsx|react-remove-scroll|@tanstack\/(react-query|query-core))\//;

// Parts of them that no first page needs: inputs of forms, and choices, which lists have as well. A part stands with
// all that import it, or the files import each other and none of them starts.
const choices = /node_modules\/@mantine\/core\/esm\/components\/(Combobox|Select|Autocomplete|MultiSelect|NativeSelect|TreeSelect|TagsInput|Pill|PillsInput)\//;
const forms = /node_modules\/(@mantine\/form|react-number-format|react-textarea-autosize|@mantine\/core\/esm\/components\/(NumberInput|JsonInput|Textarea|PasswordInput|Switch|Tabs|Timeline|SegmentedControl))\//;

function chunkOf(id: string): string | undefined {
  if (choices.test(id)) return 'choices';
  if (forms.test(id)) return 'forms';
  return vendor.test(id) || id.includes('commonjsHelpers') ? 'vendor' : undefined;
}

// `npm run dev` serves the page from here and asks a master for the rest. The key of HOSTLER_KEY is added on this
// machine only; the built console has none.
const master = {
  target: process.env.HOSTLER_API ?? 'http://127.0.0.1:17490',
  headers: process.env.HOSTLER_KEY ? { Authorization: `Bearer ${process.env.HOSTLER_KEY}` } : undefined,
};

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        manualChunks: chunkOf,
      },
    },
  },
  worker: { format: 'es' },
  server: {
    port: 5173,
    proxy: { '/v1': master, '/gpu-instances': master, '/stocks': master, '/openapi.json': master },
  },
  test: {
    environment: 'jsdom',
    globals: true,
    setupFiles: ['src/testing/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
  },
});
