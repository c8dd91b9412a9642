// Pages of the tenant administrator.
import type { PageEntry } from '../../app/pages';

export const adminPages: PageEntry[] = [];
