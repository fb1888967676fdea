/**
 * The entries that a purge or a take-down removes: those with the given keys, and those that name one of the channels. An entry
 * names a channel if its key contains the channel's ID, or if a text in its value is the ID.
 */
export interface Removal {
  readonly channelIds: readonly string[];
  readonly keys: readonly string[];
}

/** Whether an entry is removed. */
export function createMatcher({ channelIds, keys }: Removal) {
  const given = new Set(keys);
  const ids = new Set(channelIds);
  const isOne = (id: string) => ids.has(id);

  function hasKey(key: string): boolean {
    return given.has(key) || key.match(/UC[A-Za-z0-9_-]{22}/g)?.some(isOne) === true;
  }

  function isIn(value: unknown): boolean {
    if (typeof value === 'string') return isOne(value);
    return typeof value === 'object' && value !== null && Object.values(value).some(isIn);
  }

  return {
    /** @param json the stored form of the value */
    matchesStored: (key: string, json: string) =>
      hasKey(key) || json.match(/(?<=")UC[A-Za-z0-9_-]{22}(?=")/g)?.some(isOne) === true,
    matches: (key: string, value: unknown) => hasKey(key) || isIn(value),
  };
}
