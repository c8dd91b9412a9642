// One stream for all tabs of a browser: HTTP/1.1 leaves a page six connections.
import { LiveStream, type LiveMessage } from './stream';

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const ports = new Set<MessagePort>();
let status: LiveMessage = { type: 'status', status: 'starting', since: Date.now() };

function tell(message: LiveMessage): void {
  if (message.type === 'status') status = message;
  for (const port of ports) port.postMessage(message);
}

const stream = new LiveStream(tell);

(globalThis as unknown as SharedScope).onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  const join = () => {
    ports.add(port);
    port.postMessage(status);
    stream.wake();
  };
  port.onmessage = (message) => (message.data === 'gone' ? ports.delete(port) : join());
  join();
};

void stream.follow();
