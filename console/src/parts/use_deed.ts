// Does a write, and says it is done only after the API has.
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { type Call, type Method, send } from '../api/client';
import type { Problem } from '../api/problem';
import { useRefresh } from '../api/use_read';

export interface Write {
  method: Method;
  path: string;
  call: Call;
}

interface Options {
  kinds: string[];
  done: string;
  onDone?: (answer: unknown) => void;
}

export function useDeed({ kinds, done, onDone }: Options) {
  const refresh = useRefresh();
  return useMutation<unknown, Problem, Write>({
    mutationFn: ({ method, path, call }) => send(method, path, call),
    onSuccess: (answer) => {
      notifications.show({ message: done, color: 'green' });
      void refresh([...kinds, 'event']);
      onDone?.(answer);
    },
  });
}
