import { type ComponentType, lazy } from 'react';

/** Waits before each further try, in milliseconds. */
const waits = [200, 1000, 3000];

/** Loads a module; a connection that breaks meanwhile does not matter: it is loaded again. */
export async function loadedAgain<T>(load: () => Promise<T>, pause = (ms: number) => new Promise((done) => setTimeout(done, ms))) {
  for (const wait of waits) {
    try {
      return await load();
    } catch {
      await pause(wait);
    }
  }
  return load();
}

/** As React's lazy(). */
export const lazily = <P>(load: () => Promise<{ default: ComponentType<P> }>) => lazy(() => loadedAgain(load));
