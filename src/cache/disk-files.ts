import { readFile, rm, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { hasErrorCode } from '../lib/error-code.ts';
import { listed, removeIfAllowed } from './directories.ts';
import { createFileIndex, type IndexedFile, indexedFile } from './file-index.ts';
import {
  channelDigestIn,
  channelDigestOf,
  digestOf,
  type FileName,
  fileNameOf,
  isContentOf,
  parseFileName,
  relativePathOf,
  shardOf,
} from './file-names.ts';
import { fileNamesIn, inspect, scanFiles } from './file-scan.ts';
import type { ErasedFiles, FileClass, FileStore } from './files.ts';
import { removeLeftovers, writeWhole } from './temporary-files.ts';

export type DiskFileStoreEvent =
  /** The files of earlier runs are known and counted. */
  | { readonly kind: 'scanned'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'scan-failed'; readonly error: unknown }
  /** A file had another content than it was stored with, and was removed. */
  | { readonly kind: 'damaged'; readonly path: string }
  | { readonly kind: 'evicted'; readonly fileClass: FileClass; readonly bytes: number };

export interface DiskFileStoreOptions {
  /** Made when it is not there. */
  readonly directory: string;
  /** Quota for all files together. */
  readonly maxBytes: number;
  /** The part of the quota that files of class `custom` may take; they also go first when the whole is full. */
  readonly customShare?: number;
  readonly clock: Clock;
  readonly onEvent: (event: DiskFileStoreEvent) => void;
}

const DEFAULT_CUSTOM_SHARE = 0.25;
const TEMPORARY = 'tmp';
/** Each use would cost a write; the order of use need not outlive the process more exactly. */
const REMEMBER_USE_AFTER_MS = 3_600_000;

/**
 * Picture bytes as plain files, one each, under a quota: the least recently used go first. Whatever is cut, damaged or
 * foreign reads as absent. Files of an earlier run are found at once and counted against the quota as soon as a scan in
 * the background has seen them. Several processes may share the directory; each counts what it knows of.
 *
 * `set` rejects when the disk is full or may not be written to; what is there can still be read then.
 */
export function createDiskFileStore(options: DiskFileStoreOptions): FileStore {
  const { maxBytes, customShare = DEFAULT_CUSTOM_SHARE, clock, onEvent } = options;
  const directory = resolve(options.directory);
  const temporaryDirectory = join(directory, TEMPORARY);
  const maxCustomBytes = Math.floor(maxBytes * customShare);
  const index = createFileIndex();
  /** Of writes under way, counted from their start: many at once would overrun the quota. */
  const reservedBytes: Record<FileClass, number> = { plain: 0, custom: 0 };
  const stop = new AbortController();
  let scanning: Promise<void> | undefined;
  let mustScanAgain = false;
  startScan();

  function startScan(): void {
    mustScanAgain = false;
    scanning = scan();
  }

  async function scan(): Promise<void> {
    try {
      await scanFiles(directory, index, stop.signal);
      if (stop.signal.aborted) return;
      await removeLeftovers(temporaryDirectory);
      await evictSurplus();
      const { files, plainBytes, customBytes } = stats();
      onEvent({ kind: 'scanned', files, bytes: plainBytes + customBytes });
    } catch (error) {
      // What it has not seen is still found, but not counted: it starts anew when the disk can be written to.
      mustScanAgain = true;
      onEvent({ kind: 'scan-failed', error });
    }
  }

  function pathOf(file: IndexedFile): string {
    return join(directory, relativePathOf(file));
  }

  /** The file under the digest, one that another process has written or the scan has not reached yet included. */
  async function find(digest: string): Promise<IndexedFile | undefined> {
    const known = index.find(digest);
    if (known !== undefined) return known;
    const shard = join(directory, shardOf(digest));
    const name = (await listed(shard)).map(parseFileName).find((found) => found?.digest === digest);
    if (name === undefined) return undefined;
    const file = await inspect(join(directory, relativePathOf(name)), name);
    if (file !== undefined && index.find(digest) === undefined) index.put(file);
    return index.find(digest);
  }

  async function markUsed(file: IndexedFile): Promise<void> {
    const nowMs = clock.now();
    index.use(file, nowMs);
    if (nowMs - file.rememberedUseAtMs < REMEMBER_USE_AFTER_MS) return;
    file.rememberedUseAtMs = nowMs;
    // A file that was just removed, or a disk that may only be read: the use is not remembered, the picture is good.
    await utimes(pathOf(file), nowMs / 1000, nowMs / 1000).catch(() => undefined);
  }

  async function remove(file: IndexedFile): Promise<void> {
    index.remove(file);
    await rm(pathOf(file), { force: true });
  }

  async function discardDamaged(file: IndexedFile): Promise<void> {
    onEvent({ kind: 'damaged', path: pathOf(file) });
    index.remove(file);
    await removeIfAllowed(pathOf(file));
  }

  function findSurplus(): IndexedFile | undefined {
    const customBytes = index.totals('custom').bytes + reservedBytes.custom;
    const bytes = customBytes + index.totals('plain').bytes + reservedBytes.plain;
    if (customBytes <= maxCustomBytes && bytes <= maxBytes) return undefined;
    const custom = index.leastRecentlyUsed('custom');
    return custom ?? (bytes > maxBytes ? index.leastRecentlyUsed('plain') : undefined);
  }

  async function evictSurplus(): Promise<void> {
    for (let file = findSurplus(); file !== undefined; file = findSurplus()) {
      try {
        await remove(file);
        onEvent({ kind: 'evicted', fileClass: file.fileClass, bytes: file.bytes });
      } catch (error) {
        index.put(file);
        throw error;
      }
    }
  }

  async function write(key: string, content: Buffer, fileClass: FileClass): Promise<void> {
    const name = await fileNameOf(key, content, fileClass);
    const nowMs = clock.now();
    reservedBytes[fileClass] += name.bytes;
    try {
      await evictSurplus();
      await writeWhole(join(directory, relativePathOf(name)), temporaryDirectory, content, nowMs);
    } finally {
      reservedBytes[fileClass] -= name.bytes;
    }
    const previous = index.find(name.digest);
    index.put(indexedFile(name, nowMs));
    const isReplaced = previous !== undefined && relativePathOf(previous) !== relativePathOf(name);
    if (isReplaced) await rm(pathOf(previous), { force: true });
    // Writes that ran side by side may have been too large together.
    await evictSurplus();
  }

  /** Pictures of a client's own size never push out those that everybody asks for. */
  function hasRoomFor(bytes: number, fileClass: FileClass): boolean {
    if (fileClass === 'plain') return bytes <= maxBytes;
    const takenBytes = index.totals('plain').bytes + reservedBytes.plain + reservedBytes.custom;
    return reservedBytes.custom + bytes <= maxCustomBytes && takenBytes + bytes <= maxBytes;
  }

  async function removeKey(key: string): Promise<void> {
    const file = await find(digestOf(key));
    if (file !== undefined) await remove(file);
  }

  /** As the directory has them: what another process has written is not in the index. */
  async function erase(isMeant: (name: FileName) => boolean): Promise<ErasedFiles> {
    const erased = { files: 0, bytes: 0 };
    for await (const name of fileNamesIn(directory)) {
      if (!isMeant(name)) continue;
      await rm(join(directory, relativePathOf(name)), { force: true });
      const known = index.find(name.digest);
      if (known !== undefined) index.remove(known);
      erased.files += 1;
      erased.bytes += name.bytes;
    }
    return erased;
  }

  function stats() {
    const plain = index.totals('plain');
    const custom = index.totals('custom');
    return { plainBytes: plain.bytes, customBytes: custom.bytes, files: plain.files + custom.files };
  }

  return {
    async get(key) {
      const file = await find(digestOf(key));
      if (file === undefined) return undefined;
      try {
        const content = await readFile(pathOf(file));
        if (await isContentOf(file, content)) {
          await markUsed(file);
          return content;
        }
      } catch (error) {
        if (!hasErrorCode(error, 'ENOENT')) throw error;
        index.remove(file);
        return undefined;
      }
      await discardDamaged(file);
      return undefined;
    },

    async findPath(key) {
      const file = await find(digestOf(key));
      if (file === undefined) return undefined;
      const found = await inspect(pathOf(file), file);
      if (found === undefined) {
        index.remove(file);
        return undefined;
      }
      await markUsed(file);
      return pathOf(file);
    },

    async set(key, bytes, fileClass) {
      if (bytes.length === 0 || !hasRoomFor(bytes.length, fileClass)) return removeKey(key);
      try {
        await write(key, bytes, fileClass);
      } catch (error) {
        throw new Error(`A picture cannot be stored in ${directory}: ${reasonOf(error)}.`, { cause: error });
      }
      if (mustScanAgain) startScan();
    },

    eraseChannels(channelIds) {
      const digests = new Set([...channelIds].map(channelDigestOf));
      return erase((name) => digests.has(channelDigestIn(name)));
    },

    eraseAll: () => erase(() => true),

    stats,

    async close() {
      stop.abort();
      await scanning;
    },
  };
}

function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return 'the disk is full';
  if (hasErrorCode(error, 'EROFS')) return 'the disk is read-only';
  if (hasErrorCode(error, 'EACCES', 'EPERM')) return 'this user may not write there';
  return error instanceof Error ? error.message : String(error);
}
