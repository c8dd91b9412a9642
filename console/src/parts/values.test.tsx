import { MantineProvider } from '@mantine/core';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { CopyButton } from './values';

async function press(copies: () => boolean): Promise<string | null> {
  document.execCommand = copies;
  render(<MantineProvider><CopyButton text="hk_1" what="the key" /></MantineProvider>);
  vi.stubGlobal('isSecureContext', false);
  await userEvent.click(screen.getByRole('button', { name: 'Copy the key' }));
  await waitFor(() => expect(screen.getByRole('status')).not.toBeEmptyDOMElement());
  return screen.getByRole('status').textContent;
}

afterEach(() => vi.unstubAllGlobals());

test('a text is called copied only when it was', async () => {
  let selected = '';
  const copies = () => {
    selected = (document.activeElement as HTMLTextAreaElement).value;
    return true;
  };
  expect(await press(copies)).toBe('Copied');
  expect(selected).toBe('hk_1');
});

test('a browser that copies nothing is named', async () => {
  expect(await press(() => false)).toContain('does not let the page copy');
});
