import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { channelOfImage, isOriginalBytes } from '../store/keys.ts';

/** The file's part of the quota. `custom` images (requested width, height or quality) are evicted first. */
export type FileClass = 'plain' | 'custom';

/**
 * The parsed name of a stored file. The file contains only the image, so that any program can read it. If its content
 * does not match its name, the file is truncated, damaged or foreign.
 */
export interface FileName {
  /** 64 bits of the channel's SHA-256 and 96 bits of the key's: enough against deliberate collisions. */
  readonly digest: string;
  readonly bytes: number;
  /** CRC-32. */
  readonly checksum: number;
  readonly fileClass: FileClass;
  /** False for an encoded image. */
  readonly isOriginal: boolean;
}

/** The directory of originals and encoded images. */
export function imagesDirectory(dataDir: string): string {
  return join(dataDir, 'images');
}

const CHANNEL_CHARACTERS = 16;
const KEY_CHARACTERS = 24;
/**
 * The name of a directory: two hexadecimal digits of the channel's digest and one of the key's. A lookup lists one of the
 * 4,096 directories (of a million files, 244), and a purge lists the 16 of its channel.
 */
const SHARD_CHARACTERS = 3;
const SHARD_CHANNEL_CHARACTERS = 2;
export const SHARD_COUNT = 16 ** SHARD_CHARACTERS;
const SHARDS_OF_CHANNEL = 16 ** (SHARD_CHARACTERS - SHARD_CHANNEL_CHARACTERS);
const FILE_NAME = /^([0-9a-f]{40})-(\d{1,12})-([0-9a-f]{8})\.(original|plain|custom)$/;

export function digestOf(key: string): string {
  return channelDigestOf(channelOfImage(key)) + hash('sha256', key).slice(0, KEY_CHARACTERS);
}

/** The beginning of the names of a channel's files. */
export function channelDigestOf(channelId: string): string {
  return hash('sha256', channelId).slice(0, CHANNEL_CHARACTERS);
}

/** The channel's part of a file name. */
export function channelDigestIn({ digest }: FileName): string {
  return digest.slice(0, CHANNEL_CHARACTERS);
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

export async function isContentOf(name: FileName, content: Buffer): Promise<boolean> {
  return content.length === name.bytes && (await checksumOf(content)) === name.checksum;
}

/** About 2 ms. */
const CHECKSUM_STEP_BYTES = 4 * 1024 * 1024;

/** In steps, because the largest originals would block the event loop for too long. */
async function checksumOf(content: Buffer): Promise<number> {
  let checksum = 0;
  for (let at = 0; at < content.length; at += CHECKSUM_STEP_BYTES) {
    if (at > 0) await setImmediate();
    checksum = crc32(content.subarray(at, at + CHECKSUM_STEP_BYTES), checksum);
  }
  return checksum;
}

export function shardOf(digest: string): string {
  const ofKey = digest.slice(CHANNEL_CHARACTERS, CHANNEL_CHARACTERS + SHARD_CHARACTERS - SHARD_CHANNEL_CHARACTERS);
  return digest.slice(0, SHARD_CHANNEL_CHARACTERS) + ofKey;
}

/** The directories that a channel's files are in. */
export function shardsOfChannel(channelDigest: string): string[] {
  const first = Number.parseInt(channelDigest.slice(0, SHARD_CHANNEL_CHARACTERS), 16) * SHARDS_OF_CHANNEL;
  return Array.from({ length: SHARDS_OF_CHANNEL }, (_, index) => shardAt(first + index));
}

/** The directory of a number from 0 to `SHARD_COUNT - 1`: its hexadecimal digits. */
export function shardAt(number: number): string {
  return number.toString(16).padStart(SHARD_CHARACTERS, '0');
}

/** The block size of ext4, XFS and most other file systems. */
const BLOCK_BYTES = 4_096;
/** The size of a directory entry. */
const DIRECTORY_ENTRY_BYTES = 80;

/** The disk usage of a file of this length. */
export function fileBytesOf(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The disk usage of a directory with that many files. */
export function directoryBytesOf(files: number): number {
  return Math.ceil((files * DIRECTORY_ENTRY_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The path relative to the store's directory. */
export function relativePathOf({ digest, bytes, checksum, fileClass, isOriginal }: FileName): string {
  const ending = isOriginal ? 'original' : fileClass;
  return join(shardOf(digest), `${digest}-${bytes}-${checksum.toString(16).padStart(8, '0')}.${ending}`);
}

/** Parses a file's name; `undefined` if it is foreign. */
export function parseFileName(text: string): FileName | undefined {
  const [, digest, bytes, checksum, ending] = FILE_NAME.exec(text) ?? [];
  if (digest === undefined) return undefined;
  return {
    digest,
    bytes: Number(bytes),
    checksum: Number(`0x${checksum}`),
    fileClass: ending === 'custom' ? 'custom' : 'plain',
    isOriginal: ending === 'original',
  };
}
