import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { channelOfPicture, isOriginalBytes } from '../store/keys.ts';

/** Which part of the quota a file belongs to: `custom` pictures (own width, height or quality) go first. */
export type FileClass = 'plain' | 'custom';

/**
 * What a stored file's name says. The file itself is the plain picture, so that any program can read it; a file whose
 * content does not fit its name is cut, damaged or somebody else's.
 */
export interface FileName {
  /** Of the key, and of the channel in it: 96 and 64 bits of SHA-256, beyond accidental and deliberate collisions. */
  readonly digest: string;
  readonly bytes: number;
  /** CRC-32 as a signed integer: V8 keeps those without an object of their own. */
  readonly checksum: number;
  readonly fileClass: FileClass;
  /** An original, else made of one. */
  readonly isOriginal: boolean;
}

/** Of originals and pictures. */
export function picturesDirectory(dataDir: string): string {
  return join(dataDir, 'pictures');
}

const KEY_CHARACTERS = 24;
const CHANNEL_CHARACTERS = 16;
/** 4,096 directories: a hundred thousand files make a listing of two dozen names each. */
const SHARD_CHARACTERS = 3;
export const SHARD_COUNT = 16 ** SHARD_CHARACTERS;
const FILE_NAME = /^([0-9a-f]{40})-(\d{1,12})-([0-9a-f]{8})\.(original|plain|custom)$/;

export function digestOf(key: string): string {
  return hash('sha256', key).slice(0, KEY_CHARACTERS) + channelDigestOf(channelOfPicture(key));
}

/** What the names of a channel's files have in common. */
export function channelDigestOf(channelId: string): string {
  return hash('sha256', channelId).slice(0, CHANNEL_CHARACTERS);
}

/** The channel's part of a name. */
export function channelDigestIn({ digest }: FileName): string {
  return digest.slice(KEY_CHARACTERS);
}

export async function fileNameOf(key: string, content: Buffer, fileClass: FileClass): Promise<FileName> {
  return {
    digest: digestOf(key),
    bytes: content.length,
    checksum: await checksumOf(content),
    fileClass,
    isOriginal: isOriginalBytes(key),
  };
}

/** True when the content is what the name says. */
export async function isContentOf(name: FileName, content: Buffer): Promise<boolean> {
  return content.length === name.bytes && (await checksumOf(content)) === name.checksum;
}

/** About 2 ms. */
const CHECKSUM_STEP_BYTES = 4 * 1024 * 1024;

/** In steps, because the largest originals would hold the event loop for longer than a hot answer may take. */
async function checksumOf(content: Buffer): Promise<number> {
  let checksum = 0;
  for (let at = 0; at < content.length; at += CHECKSUM_STEP_BYTES) {
    if (at > 0) await setImmediate();
    checksum = crc32(content.subarray(at, at + CHECKSUM_STEP_BYTES), checksum);
  }
  return checksum | 0;
}

export function shardOf(digest: string): string {
  return digest.slice(0, SHARD_CHARACTERS);
}

const SHARD = /^[0-9a-f]{3}$/;

/** Whether a directory's name is one that files are spread over. */
export function isShard(name: string): boolean {
  return SHARD.test(name);
}

/** From 0 to `SHARD_COUNT - 1`. */
export function shardNumberOf(digest: string): number {
  return Number.parseInt(shardOf(digest), 16);
}

/** What ext4, XFS and most others give out at least, and in multiples of. */
const BLOCK_BYTES = 4_096;
/** A name and what stands beside it in a directory. */
const DIRECTORY_ENTRY_BYTES = 80;

/** What a file of this length takes on the disk. */
export function fileBytesOf(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** What a directory with that many files takes on the disk. */
export function directoryBytesOf(files: number): number {
  return Math.ceil((files * DIRECTORY_ENTRY_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The path below the store's directory. */
export function relativePathOf({ digest, bytes, checksum, fileClass, isOriginal }: FileName): string {
  const ending = isOriginal ? 'original' : fileClass;
  return join(shardOf(digest), `${digest}-${bytes}-${(checksum >>> 0).toString(16).padStart(8, '0')}.${ending}`);
}

/** Reads a file's name; `undefined` when it is none of ours. */
export function parseFileName(text: string): FileName | undefined {
  const [, digest, bytes, checksum, ending] = FILE_NAME.exec(text) ?? [];
  if (digest === undefined) return undefined;
  return {
    digest,
    bytes: Number(bytes),
    checksum: Number(`0x${checksum}`) | 0,
    fileClass: ending === 'custom' ? 'custom' : 'plain',
    isOriginal: ending === 'original',
  };
}
