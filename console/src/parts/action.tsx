// A button for a write: it shows what it will do, asks, waits for the API, and says what the API said.
import { Button, type ButtonProps, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense } from 'react';
import { usePermission } from '../api/permissions';
import type { DialogProps } from './action_dialog';
import { loadedAgain } from './lazily';
import type { Deed, Resource } from './resource';
import { useRowDialog } from './row_dialog';
import { Loading } from './states';

// React's lazy() loses the type parameter of the component.
const Dialog = lazy(() => loadedAgain(() => import('./action_dialog').then((module) => ({ default: module.ActionDialog })))) as <T>(
  props: DialogProps<T>,
) => ReactNode;

interface Props<T> {
  deed: Deed<T>;
  item: T;
  kinds: string[];
  place?: Resource<T>['place'];
  onDone?: (answer: unknown) => void;
  button?: ButtonProps;
}

/** Absent where it is not permitted or makes no sense. */
export function Action<T>({ deed, item, kinds, place, onDone, button }: Props<T>) {
  const permitted = usePermission(deed.permission, place?.(item));
  const [opened, dialog] = useDisclosure(false);
  const row = useRowDialog();
  if (!permitted || deed.when?.(item) === false) return null;
  const content = (close: () => void) => (
    <Suspense fallback={<Loading lines={3} />}>
      <Dialog deed={deed} item={item} kinds={kinds} onDone={onDone} close={close} />
    </Suspense>
  );
  const open = row ? () => row({ title: deed.label, content }) : dialog.open;
  return (
    <>
      <Button variant="default" size="xs" c={deed.danger ? 'red' : undefined} {...button} onClick={open}>
        {deed.label}
      </Button>
      {!row && (
        <Modal opened={opened} onClose={dialog.close} title={deed.label} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
          {content(dialog.close)}
        </Modal>
      )}
    </>
  );
}
