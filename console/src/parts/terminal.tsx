import { Suspense } from 'react';
import { lazily } from './lazily';
import { Loading } from './states';

const View = lazily(() => import('./terminal_view'));

/** A terminal of an instance; its code is loaded when it is opened. */
export function Terminal(props: { instance: string; tenantID?: string; since?: string }) {
  return (
    <Suspense fallback={<Loading lines={8} />}>
      <View {...props} />
    </Suspense>
  );
}
