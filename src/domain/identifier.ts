export type IdentifierKind = 'id' | 'handle' | 'username';

/** What a request names a channel by. `value` is as upstream wants to see it; `key` is what two equal ones share. */
export interface ChannelRef {
  readonly kind: IdentifierKind;
  readonly value: string;
  readonly key: string;
}

/** `UC` and 22 characters of base64url: developers.google.com/youtube/v3/docs/channels#id (seen 2026-11). */
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/;
/** Letters and digits of any script with `_ - . ·`: support.google.com/youtube/answer/11585688 (seen 2026-11). */
const HANDLE = /^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_\-.·]+$/u;
const MAX_HANDLE_CODE_POINTS = 30;
/** More than 30 code points have in any form: none is made of more than four, of two units each. */
const MAX_UNNORMALIZED_CHARACTERS = 1 + 8 * MAX_HANDLE_CODE_POINTS;
const USERNAME = /^[A-Za-z0-9_.-]{1,60}$/;

export function isChannelId(text: string): boolean {
  return CHANNEL_ID.test(text);
}

export function channelIdRef(channelId: string): ChannelRef {
  return { kind: 'id', value: channelId, key: channelId };
}

/** A handle or user name as one text: `handle:pennant`. */
export function nameOf({ kind, key }: Pick<ChannelRef, 'kind' | 'key'>): string {
  return `${kind}:${key}`;
}

/** Reads a handle, with or without its leading `@`; `undefined` when the text cannot be one. */
export function findHandle(text: string): ChannelRef | undefined {
  // Normalizing takes time with the square of the length where many marks combine.
  if (text.length > MAX_UNNORMALIZED_CHARACTERS) return undefined;
  const value = (text.startsWith('@') ? text.slice(1) : text).normalize('NFC');
  if (!HANDLE.test(value) || [...value].length > MAX_HANDLE_CODE_POINTS) return undefined;
  // toLowerCase, never toLocaleLowerCase: a Turkish operator's machine must not split "I" from "i".
  return { kind: 'handle', value, key: value.toLowerCase() };
}

/** Reads a legacy user name; `undefined` when the text cannot be one. */
export function findUsername(text: string): ChannelRef | undefined {
  if (!USERNAME.test(text)) return undefined;
  return { kind: 'username', value: text, key: text.toLowerCase() };
}

/** Reads an identifier as the kind that the request says it is; `undefined` when it cannot be of that kind. */
export function findIdentifier(text: string, kind: IdentifierKind): ChannelRef | undefined {
  return FINDERS[kind](text);
}

const FINDERS: Record<IdentifierKind, (text: string) => ChannelRef | undefined> = {
  id: (text) => (isChannelId(text) ? channelIdRef(text) : undefined),
  handle: findHandle,
  username: findUsername,
};

/** A name without a kind, as `/api/banner/{name}` takes it: how to read it, in order. Empty when it can be nothing. */
export function refsOfBareIdentifier(text: string): ChannelRef[] {
  if (text.startsWith('@')) return [findHandle(text)].filter((ref) => ref !== undefined);
  if (isChannelId(text)) return [channelIdRef(text)];
  return [findHandle(text), findUsername(text)].filter((ref) => ref !== undefined);
}
