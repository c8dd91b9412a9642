import type { Schemas } from '../../api/client';

const words: Record<Schemas['MailState'], string> = {
  queued: 'A letter with it is being sent.',
  none: 'There is no e-mail address, so give it to the person yourself.',
  off: 'This cloud sends no letters, so give it to the person yourself.',
  limited: 'Too many letters went to this address, so give it to the person yourself.',
};

/** Whether a letter goes out, as a sentence. */
export function mailWords(mail: Schemas['MailState']): string {
  return words[mail];
}

/** The page that takes a secret. Masters without a public URL name none; the address of this page is known. */
export function linkOf(made: { secret: string; link?: string }, page: string): string {
  return made.link || `${location.origin}${page}?secret=${encodeURIComponent(made.secret)}`;
}
