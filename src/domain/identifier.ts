/** `custom`: the legacy `/c/NAME`, which YouTube may give to another channel than the handle or user name of the same letters. */
export type IdentifierKind = 'id' | 'handle' | 'username' | 'custom';

/** An identifier of a channel in a request. `value` has the form for YouTube. `key` is the same for equal identifiers. */
export interface Identifier {
  readonly kind: IdentifierKind;
  readonly value: string;
  readonly key: string;
}

/** `UC` and 22 characters of base64url: developers.google.com/youtube/v3/docs/channels#id (seen 2026-11). */
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/;
/** Letters and digits of any script with `_ - . ·`: support.google.com/youtube/answer/11585688 (seen 2026-11). */
const HANDLE = /^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_\-.·]+$/u;
const MAX_HANDLE_CODE_POINTS = 30;
const MAX_CUSTOM_CODE_POINTS = 100;
/** A code point has at most this many UTF-16 units in any normalization form: four code points of two units. */
const MAX_UNITS_UNNORMALIZED = 8;
const USERNAME = /^[A-Za-z0-9_.-]{1,60}$/;

export function isChannelId(text: string): boolean {
  return CHANNEL_ID.test(text);
}

export function identifierOfId(channelId: string): Identifier {
  return { kind: 'id', value: channelId, key: channelId };
}

/** A handle or user name as one text: `handle:pennant`. */
export function identifierKey({ kind, key }: Pick<Identifier, 'kind' | 'key'>): string {
  return `${kind}:${key}`;
}

/** Returns the same text for texts that differ only in letter case or in Unicode composition. */
export function comparable(text: string): string {
  // toLowerCase, never toLocaleLowerCase: a Turkish operator's machine must not split "I" from "i". Composed again because
  // some letters, such as "ǰ", are composed in lower case only.
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

/** Reads a handle with or without its leading `@`. `undefined` for an invalid handle. */
export function findHandle(text: string): Identifier | undefined {
  return findName('handle', text.replace(/^@/, ''), MAX_HANDLE_CODE_POINTS);
}

/** Reads a name with the characters of a handle. `undefined` for an invalid name. */
function findName(kind: 'handle' | 'custom', text: string, maxCodePoints: number): Identifier | undefined {
  // Normalization takes quadratic time for many combining marks.
  if (text.length > MAX_UNITS_UNNORMALIZED * maxCodePoints) return undefined;
  const value = text.normalize('NFC');
  if (!HANDLE.test(value) || [...value].length > maxCodePoints) return undefined;
  return { kind, value, key: comparable(value) };
}

/** Reads a legacy user name. `undefined` for an invalid name. */
export function findUsername(text: string): Identifier | undefined {
  if (!USERNAME.test(text)) return undefined;
  return { kind: 'username', value: text, key: comparable(text) };
}

/** Reads an identifier as the kind in the request. `undefined` if it is invalid for that kind. */
export function findIdentifier(text: string, kind: IdentifierKind): Identifier | undefined {
  if (kind === 'handle') return findHandle(text);
  if (kind === 'username') return findUsername(text);
  if (kind === 'custom') return findName('custom', text, MAX_CUSTOM_CODE_POINTS);
  return isChannelId(text) ? identifierOfId(text) : undefined;
}

/** The possible readings of a name without a kind, as in `/api/banner/{name}`, in order. Empty for an invalid name. */
export function identifiersOfBareName(text: string): Identifier[] {
  return isChannelId(text) ? [identifierOfId(text)] : onlyDefined(findHandle(text), findUsername(text));
}

/** The possible readings of the name in `/c/NAME`, in order. Empty for an invalid name. */
export function identifiersOfCustomName(text: string): Identifier[] {
  if (isChannelId(text)) return [identifierOfId(text)];
  return onlyDefined(findIdentifier(text, 'custom'), findHandle(text), findUsername(text));
}

function onlyDefined(...identifiers: readonly (Identifier | undefined)[]): Identifier[] {
  return identifiers.filter((identifier) => identifier !== undefined);
}
