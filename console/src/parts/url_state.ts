// Filters, order and time range stand in the URL, so that every view is a link.
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
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

/** A word of the URL that one types: the URL follows when the typing pauses, and an address that says another word wins. */
export function useTypedWord(name: string, pause = 200): [string, (text: string) => void] {
  const [word, setWord] = useUrlWord(name);
  const [typed, setTyped] = useState(word);
  const written = useRef(word);
  const later = useDebouncedCallback((text: string) => {
    written.current = text;
    setWord(text);
  }, pause);
  useEffect(() => {
    if (word === written.current) return;
    written.current = word;
    setTyped(word);
  }, [word]);
  const type = (text: string) => {
    setTyped(text);
    later(text);
  };
  return [typed, type];
}
