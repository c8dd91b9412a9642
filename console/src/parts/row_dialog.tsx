// One dialog for all rows of a list. Rows come and go with scrolling and with changes; what a dialog shows stays.
import { Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

interface RowDialog {
  title: string;
  size?: string;
  content: (close: () => void) => ReactNode;
}

type Open = (dialog: RowDialog) => void;

const Host = createContext<Open | undefined>(undefined);

/** Within rows: opens their list's dialog. Elsewhere undefined. */
export function useRowDialog(): Open | undefined {
  return useContext(Host);
}

export function RowDialogs({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<RowDialog>();
  const [opened, { open, close }] = useDisclosure(false);
  const show = useMemo<Open>(
    () => (dialog) => {
      setShown(dialog);
      open();
    },
    [open],
  );
  return (
    <Host.Provider value={show}>
      {children}
      <Modal opened={opened} onClose={close} title={shown?.title} size={shown?.size ?? 'lg'} closeButtonProps={{ 'aria-label': 'Close' }}>
        {shown?.content(close)}
      </Modal>
    </Host.Provider>
  );
}
