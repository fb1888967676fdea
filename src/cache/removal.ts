/**
 * The entries that a purge or a take-down removes: those with the given keys, and those that name one of the channels. An entry
 * names a channel if its key contains the channel's ID, or if a text in its value is the ID.
 */
export interface Removal {
  readonly channelIds: readonly string[];
  readonly keys: readonly string[];
}

/** Whether an entry is removed. @param texts those in its value, or those of them that may be IDs */
export function createMatcher({ channelIds, keys }: Removal): (key: string, texts: readonly string[]) => boolean {
  const given = new Set(keys);
  const ids = new Set(channelIds);
  return (key, texts) =>
    given.has(key) || [...(key.match(/UC[A-Za-z0-9_-]{22}/g) ?? []), ...texts].some((id) => ids.has(id));
}

/** The texts in JSON that are IDs. */
export function idsInJson(json: string): readonly string[] {
  return json.match(/(?<=")UC[A-Za-z0-9_-]{22}(?=")/g) ?? [];
}

/** All texts in a value. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
