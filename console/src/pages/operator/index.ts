// Pages of the operator.
import type { PageEntry } from '../../app/pages';

export const operatorPages: PageEntry[] = [];
