/** What is known under a key: a value, or that there is no such channel. */
export type Content<V> = { readonly value: V } | { readonly absent: string };

export interface StoredForm<V> {
  readonly content: Content<V>;
  /** From the time it was stored. */
  readonly freshMs: number;
}

export interface StoredFormRules<V> {
  /** Whether the value is one of this kind and belongs under the key. */
  readonly isValue: (value: unknown, key: string) => value is V;
  /** The longest that a value of this kind, or its absence, is fresh. */
  readonly maxFreshMs: number;
  readonly maxAbsentFreshMs: number;
}

const NO_SUCH_CHANNEL = 'There is no such channel.';
/** A value of ours has tens of kilobytes at most; parsing a larger one would hold the event loop. */
const MAX_CHARACTERS = 1024 * 1024;

/** The text that goes into a store. `statistics.ts` tells the two contents apart by how it begins. */
export function writeStoredForm<V>({ content, freshMs }: StoredForm<V>): string {
  return JSON.stringify({ ...content, freshMs });
}

/**
 * Reads what a store returned. `undefined` for what does not fit: others may write to a store, and a file may be damaged.
 * A stored text about the absence is never repeated.
 */
export function readStoredForm<V>(
  text: string,
  key: string,
  { isValue, maxFreshMs, maxAbsentFreshMs }: StoredFormRules<V>,
): StoredForm<V> | undefined {
  const form = parse(text);
  if (typeof form !== 'object' || form === null) return undefined;
  const { value, absent, freshMs } = form as Record<string, unknown>;
  if (absent !== undefined) {
    const fits = value === undefined && typeof absent === 'string' && isDuration(freshMs, maxAbsentFreshMs);
    return fits ? { content: { absent: NO_SUCH_CHANNEL }, freshMs } : undefined;
  }
  return isDuration(freshMs, maxFreshMs) && isValue(value, key) ? { content: { value }, freshMs } : undefined;
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDuration(value: unknown, maximum: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= maximum;
}
