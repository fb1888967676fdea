import { findHandle, type IdentifierKind } from '../domain/identifier.ts';
import { MAX_PASTED_CHARACTERS, readPasted } from '../domain/pasted.ts';

/** The channel that a text names, and the path of its record on an instance. */
export interface Identified {
  /** `name`: a handle without its @, which may be a text to search for. */
  readonly kind: IdentifierKind | 'name';
  readonly value: string;
  readonly path: string;
}

/** Reads a typed or pasted text. Returns `undefined` if it names no channel: usually it is a text to search for. */
export function identify(text: string): Identified | undefined {
  const pasted = readPasted(text);
  const [ref] = pasted?.names === 'channel' ? pasted.refs : [];
  if (ref !== undefined) return { kind: ref.kind, value: ref.value, path: recordPath(ref.kind, ref.value) };
  const name = pasted === undefined ? findHandle(text.trim()) : undefined;
  return name && { kind: 'name', value: name.value, path: recordPath('handle', name.value) };
}

/** Whether the text is an ID, an @handle or a URL, so that searching for it would waste a request. */
export function isExact(text: string) {
  const found = identify(text);
  return found === undefined ? describeFault(text) !== undefined : found.kind !== 'name';
}

const FAULTS = {
  video: 'That is a video. Paste the address of its channel.',
  playlist: 'That is a playlist. Paste the address of its channel.',
  'other page': 'That address is not one of a channel. Channel addresses contain /@handle or /channel/UC….',
};

/** Returns why a text that looks like a URL or a handle does not name a channel. Returns `undefined` for any other text. */
export function describeFault(text: string) {
  if (text.length > MAX_PASTED_CHARACTERS) return 'That text is too long for a name or an address.';
  const pasted = readPasted(text);
  if (pasted !== undefined) return pasted.names === 'channel' ? undefined : FAULTS[pasted.names];
  if (!text.trim().startsWith('@')) return undefined;
  return 'A handle has 1 to 30 letters, digits, “_”, “-”, “.” or “·”, at least one letter or digit.';
}

function recordPath(kind: IdentifierKind, value: string): string {
  const segment = encodeURIComponent(value);
  if (kind === 'custom') return `/c/${segment}`;
  return kind === 'id' ? `/api/channel/${segment}` : `/api/channel/${segment}?type=${kind}`;
}
