// Permissions of the caller, from whoami.
import type { Scope, Whoami } from './coming';
import { useRead } from './use_read';

export interface Place {
  tenantID?: string;
  project?: string;
  provider?: string;
}

export function useWhoami(): Whoami | undefined {
  return useRead('/v1/whoami', {}, { kinds: ['grant', 'role'] }).data;
}

function covers(scope: Scope, place: Place): boolean {
  const same = (own?: string, asked?: string) => !own || !asked || own === asked;
  return same(scope.tenantID, place.tenantID) && same(scope.project, place.project) && same(scope.provider, place.provider);
}

/** Whether one of the scopes has the permission at the place; without a place: anywhere. */
export function allows(who: Whoami | undefined, permission: string, place: Place = {}): boolean {
  return (who?.scopes ?? []).some((scope) => scope.permissions.includes(permission) && covers(scope, place));
}

/** `usePermission('instance.write', instance)`: whether the caller may do this there. Unknown yet: no. */
export function usePermission(permission: string | undefined, place?: Place): boolean {
  const who = useWhoami();
  return permission === undefined || allows(who, permission, place);
}
