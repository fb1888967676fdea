import { createHash } from 'node:crypto';
import { type Format, findFormat } from '../domain/formats.ts';
import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { ImageKind, Size } from '../domain/variants.ts';

/**
 * The layout of what is stored. A number goes up when values of that kind change their shape: old ones then read as
 * misses instead of as nonsense.
 */
const LAYOUT = {
  channel: 1,
  name: 1,
  search: 2,
  original: 4,
  published: 1,
  picture: 2,
  refinement: 1,
  kept: 1,
} as const;

export type EntryKind = Exclude<keyof typeof LAYOUT, 'picture'>;

/** Every kind of thing that is stored. */
export const STORED_KEY_KINDS = Object.keys(LAYOUT) as (keyof typeof LAYOUT)[];

/** What an entry of a store is about, in whatever layout; `undefined` for a key that is not of our making. */
export function findEntryKind(key: string): EntryKind | undefined {
  const [, kind = ''] = /^([a-z]+)\d+:/.exec(key) ?? [];
  return Object.hasOwn(LAYOUT, kind) && kind !== 'picture' ? (kind as EntryKind) : undefined;
}

export function channelKey(channelId: string): string {
  return `channel${LAYOUT.channel}:${channelId}`;
}

/** For handles and user names: what they stand for. */
export function nameKey(ref: ChannelRef): string {
  return `name${LAYOUT.name}:${nameOf(ref)}`;
}

/** The name (`nameOf`) out of a `nameKey` in whatever layout. */
export function nameInKey(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

const CONTAINS_CHANNEL_ID = /UC[A-Za-z0-9_-]{22}/;

/** One entry for all queries that differ in letter case, blanks or Unicode composition only. */
export function searchKey(query: string): string {
  const normalized = query.normalize('NFC').replace(/\s+/gu, ' ').trim();
  // A channel ID means another channel in other letter case.
  const text = CONTAINS_CHANNEL_ID.test(normalized) ? normalized : normalized.toLowerCase();
  return `search${LAYOUT.search}:${text}`;
}

/** What is known of a channel's banner or avatar original without reading its bytes. */
export function originalKey(channelId: string, kind: ImageKind): string {
  return `original${LAYOUT.original}:${channelId}:${kind}`;
}

export function publishedKey(channelId: string): string {
  return `published${LAYOUT.published}:${channelId}`;
}

/** What the service has learned beside channels. */
export type KeptName = 'youtube-client-version' | 'youtube-canary';

export function keptKey(name: KeptName): string {
  return `kept${LAYOUT.kept}:${name}`;
}

/** An original's bytes, named by their digest. */
export function originalBytesKey(channelId: string, digest: string): string {
  return `original/${channelId}/${digest}`;
}

export interface PictureIdentity {
  readonly channelId: string;
  /** Of the original. */
  readonly digest: string;
  readonly crop: Size & { readonly left: number; readonly top: number };
  readonly output: Size;
  readonly format: Format;
  readonly quality: number | undefined;
}

/** An encoded picture: everything that changes its bytes, so that equal requests are one picture. */
export function pictureKey({ channelId, digest, crop, output, format, quality }: PictureIdentity): string {
  const cut = `${crop.left},${crop.top},${crop.width},${crop.height}`;
  const cutOriginal = `picture${LAYOUT.picture}/${channelId}/${digest}/${cut}`;
  return `${cutOriginal}/${output.width}x${output.height}/${quality ?? 'default'}.${format}`;
}

/** Whose picture it is: the bytes of an original, or what was made of one. */
export function channelOfPicture(key: string): string {
  return key.split('/', 2)[1] ?? '';
}

const PICTURE = /^(?:original|picture\d+)\//;

/** Whether the key is one of picture bytes, in whatever layout. */
export function isPicture(key: string): boolean {
  return PICTURE.test(key);
}

const MADE_PICTURE = /^picture\d+\//;

/** The format that a made picture's key names; `undefined` for an original, which may be of any. */
export function formatOfPicture(key: string): Format | undefined {
  if (!MADE_PICTURE.test(key)) return undefined;
  const [, format = ''] = key.slice(key.lastIndexOf('/') + 1).split('.', 2);
  return findFormat(format);
}

/** The digest that an original's key names. */
export function digestOfOriginal(key: string): string | undefined {
  return /^original\/[^/]*\/([0-9a-f]{32})$/.exec(key)?.[1];
}

/** Tells an original's bytes from what was made of one. */
export function isOriginalBytes(key: string): boolean {
  return key.startsWith('original/');
}

/**
 * An encoding that shows all of its original in the original's own format. A former version sent some of these originals
 * as they were, under the key without the suffix: other bytes need another key and another ETag.
 */
export function encodedOriginalKey(wholePictureKey: string): string {
  return `${wholePictureKey}.encoded`;
}

/** The smaller encoding of a picture that was asked for often. */
export function optimizedPictureKey(fastPictureKey: string): string {
  return `${fastPictureKey}.refined`;
}

/** What came of making it. */
export function refinementKey(fastPictureKey: string): string {
  return `refinement${LAYOUT.refinement}:${fastPictureKey}`;
}

/** A short name for a long key: 128 bits of SHA-256, base64url. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

const CHANNEL_ID = /UC[A-Za-z0-9_-]{22}/g;

/**
 * The channels that a key or a stored text names. All that a channel ID stands in here ends it: quotes, a colon, a slash.
 */
export function channelIdsIn(text: string): string[] {
  return text.match(CHANNEL_ID) ?? [];
}
