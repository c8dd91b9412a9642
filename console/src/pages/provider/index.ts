// Pages of the provider.
import type { PageEntry } from '../../app/pages';

export const providerPages: PageEntry[] = [];
