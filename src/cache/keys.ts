import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { comparable, type Identifier, identifierKey } from '../domain/identifier.ts';
import type { ImageKind } from '../domain/variants.ts';

/**
 * The version of entries, in every key. It goes up when keys or values change: data of another version is never read, and
 * expires.
 */
const DATA_VERSION = 3;

/** What the keys of a kind begin with. */
function prefixOf(kind: 'channel' | 'name' | 'search' | 'original'): string {
  return `${kind}${DATA_VERSION}:`;
}

export function channelKey(channelId: string): string {
  return `${prefixOf('channel')}${channelId}`;
}

/** The key for the channel ID of a handle or user name. */
export function nameKey(identifier: Identifier): string {
  return `${prefixOf('name')}${identifierKey(identifier)}`;
}

/** A query in the form in which it is read as a channel. */
export function searchText(query: string): string {
  return query.normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** The same key for words that differ only in letter case, white space or Unicode composition. Letter case matters in channel IDs. */
export function searchKey(query: string): string {
  const text = searchText(query);
  return `${prefixOf('search')}${/UC[A-Za-z0-9_-]{22}/.test(text) ? text : comparable(text)}`;
}

/** The key for the metadata of a channel's banner or avatar original. */
export function originalKey(channelId: string, kind: ImageKind): string {
  return `${prefixOf('original')}${channelId}:${kind}`;
}

/** 128 bits of SHA-256, base64url. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Bytes that are hashed in one turn of the event loop: a millisecond. Web Crypto would copy the bytes to hash them elsewhere. */
const HASHED_BYTES = 2 ** 20;

/** The digest of an original: the first 32 hex digits of the SHA-256. */
export async function digestOf(bytes: Buffer): Promise<string> {
  const sha256 = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    if (at > 0) await setImmediate();
    sha256.update(bytes.subarray(at, at + HASHED_BYTES));
  }
  return sha256.digest('hex').slice(0, 32);
}
