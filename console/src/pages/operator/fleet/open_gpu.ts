// The fleet's answer has no ids of GPUs: the one at a place is asked for when it is opened.
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { read } from '../../../api/client';
import { asProblem } from '../../../api/problem';

/** Opens the page of the GPU with this place on its host, or of the host. */
export function useOpen() {
  const [, go] = useLocation();
  const openHost = (host: string) => go(`/hosts/${encodeURIComponent(host)}`);
  const openGpu = async (host: string, place: number) => {
    try {
      const gpus = await read('/v1/gpus', { query: { host, limit: 1000 } });
      const gpu = gpus.items[place];
      if (gpu) go(`/gpus/${encodeURIComponent(gpu.id)}`);
      else openHost(host);
    } catch (error) {
      notifications.show({ message: asProblem(error).sentence, color: 'red' });
    }
  };
  return { openHost, openGpu: (host: string, place: number) => void openGpu(host, place) };
}
