// A row never moves under the pointer: new answers change rows in place.

interface Settled {
  /** Ids in the order that is shown. */
  order: string[];
  /** Ids of new rows above, which wait until they are asked for. */
  fresh: string[];
}

/**
 * The order to show when `arrived` comes while `shown` is on screen. Known rows keep their places, removed ones go, rows
 * behind the last known one are appended, other new rows wait.
 */
export function settle(shown: string[], arrived: string[]): Settled {
  if (shown.length === 0) return { order: arrived, fresh: [] };
  const present = new Set(arrived);
  const known = new Set(shown);
  const kept = shown.filter((id) => present.has(id));
  const lastKnown = arrived.findLastIndex((id) => known.has(id));
  const isNew = (id: string) => !known.has(id);
  if (kept.length === 0) return { order: arrived, fresh: [] };
  return {
    order: [...kept, ...arrived.slice(lastKnown + 1).filter(isNew)],
    fresh: arrived.slice(0, lastKnown).filter(isNew),
  };
}
