import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import type { Schemas } from '../../api/client';
import { Holder } from './host_sections';

function show(gpu: Partial<Schemas['Gpu']>) {
  const all = { use: 'idle', heldBy: '', holder: '', cluster: '', podNamespace: '', pod: '', container: '', ...gpu } as Schemas['Gpu'];
  return render(<MantineProvider env="test"><div data-testid="holder"><Holder gpu={all} /></div></MantineProvider>);
}

test('a GPU of a node links to its cluster and names the pod', () => {
  const held = { use: 'cluster', heldBy: 'kn-1', holder: 'train-w1', cluster: 'kc-1' } as const;
  const { unmount } = show({ ...held, podNamespace: 'team', pod: 'job-0', container: 'main' });
  expect(screen.getByTestId('holder')).toHaveTextContent('pod team/job-0 of train-w1');
  expect(screen.getByRole('link')).toHaveAttribute('href', '/clusters/kc-1');
  unmount();
  show(held);
  expect(screen.getByTestId('holder')).toHaveTextContent('node train-w1');
});

test('a GPU of an instance links to the instance', () => {
  show({ use: 'instance', heldBy: 'i-1', holder: 'nb' });
  expect(screen.getByRole('link', { name: 'nb' })).toHaveAttribute('href', '/instances/i-1');
});
