// Permissions of the caller, from whoami.
import type { Schemas } from './client';
import { useRead } from './use_read';

type Whoami = Schemas['Whoami'];

/** Where an object lies. An empty tenant: it is the cloud's. */
export interface Place {
  tenantID?: string;
  project?: string;
  provider?: string;
}

export const useWhoamiRead = () => useRead('/v1/whoami', {}, { kinds: ['grant', 'role'] });

export const useWhoami = (): Whoami | undefined => useWhoamiRead().data;

function covers(scope: Schemas['WhoamiScope'], place: Place): boolean {
  const same = (own?: string, asked?: string) => !own || asked === undefined || own === asked;
  return same(scope.tenantID, place.tenantID) && same(scope.project, place.project) && same(scope.provider, place.provider);
}

/** Whether one of the scopes has the permission at the place; without a place: anywhere. Everyone has those of self. */
export function allows(who: Whoami | undefined, permission: string, place: Place = {}): boolean {
  if (permission.startsWith('self.')) return who !== undefined;
  return (who?.scopes ?? []).some((scope) => scope.permissions.includes(permission) && covers(scope, place));
}

/** `usePermission('instance.write', instance)`: whether the caller may do this there. Unknown yet: no. */
export function usePermission(permission: string | undefined, place?: Place): boolean {
  const who = useWhoami();
  return permission === undefined || allows(who, permission, place);
}
