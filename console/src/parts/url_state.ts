// Filters, order and time range stand in the URL, so that every view is a link.
import { useSearchParams } from 'wouter';

/** A word of the URL's query, with its default; the default is left out of the URL. */
export function useUrlWord(name: string, fallback = ''): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = (value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === fallback || value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [params.get(name) ?? fallback, set];
}
