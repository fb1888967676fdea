import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { inSteps } from '../lib/byte-steps.ts';
import { type Clock, type Times, timesOf } from '../lib/clock.ts';
import { hasErrorCode, makeDirectory } from '../lib/file-system.ts';
import type { BoundedStats } from '../lib/metrics.ts';
import { createWorkerThread, siblingModule } from '../lib/worker-thread.ts';
import { channelOfImage, isOriginalBytes } from './image-keys.ts';
import type { Erased, ImageFunctions, ImageNotice, ImageThreadData, StoredFile } from './image-worker.ts';
import type { NewImage, Usage } from './quota.ts';
import { imagePaths } from './schema.ts';

export type DiskImagesEvent =
  | ImageNotice
  /** The worker thread ended unexpectedly; the next call starts a new one. */
  | { readonly kind: 'worker-ended'; readonly error: Error }
  /** The folder of an earlier version is deleted. */
  | { readonly kind: 'former-deleted'; readonly path: string }
  | { readonly kind: 'former-not-deleted'; readonly path: string; readonly error: unknown };

interface DiskImagesOptions {
  readonly dataDir: string;
  /** Quota for the database, its log and the files beside it. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly onEvent: (event: DiskImagesEvent) => void;
}

/**
 * Images on this instance's disk, by key: encoded images in `images.db`, and originals as files beside it, each with its row.
 * Both may be deleted at any time. Several processes may use them. Methods reject while the database cannot be opened or written.
 */
export interface DiskImages {
  /** The bytes; `undefined` if they are not stored or damaged. */
  get(key: string): Promise<Buffer | undefined>;
  /** For another process: the path of an original, or the bytes of an encoded image. */
  findForReading(key: string): Promise<{ readonly path: string } | { readonly bytes: Buffer } | undefined>;
  /** Counts as a use of the image, like reading it. */
  noteUse(key: string): Promise<void>;
  open(): Promise<void>;
  /** Stores an image, or nothing if it is too large. */
  set(key: string, bytes: Buffer): Promise<void>;
  /** Removes the images of these channels and their bytes. */
  erase(channelIds: readonly string[]): Promise<Erased>;
  /**
   * Once an hour: removes images that nobody used for 30 days, what a lowered quota has no room for, and what an earlier version or a
   * killed process left. Gives free pages back to the disk.
   */
  tidy(): Promise<void>;
  /** Writes to the database. Rejects if it cannot be written. */
  tryToWrite(): Promise<void>;
  /** After the latest change by this process. `bytes` is without the log. */
  usage(): Usage & { readonly maxBytes: number };
  /** Calls that wait for the thread. */
  calls(): BoundedStats;
  close(): Promise<void>;
}

/** A thread that fails at start must not be started for every request. */
const RESTART_MS = 1_000;
const MAX_PENDING_CALLS = 10_000;
/** Copying more to the thread would block the event loop for milliseconds: a larger image is a file. */
const MAX_ROW_BYTES = 1024 * 1024;
const CHANNELS_PER_STEP = 100;
const NAMES_PER_STEP = 200;
const TIDY_MS = 3_600_000;
const NOTHING_STORED: Usage = { entries: 0, bytes: 0, freeBytes: 0 };

type NewRow = Omit<Parameters<ImageFunctions['set']>[0], keyof Times>;

export function createDiskImages(options: DiskImagesOptions): DiskImages {
  const { dataDir, maxBytes, clock, onEvent } = options;
  const { database, files, former } = imagePaths(dataDir);
  const thread = createWorkerThread<ImageFunctions>({
    name: 'images',
    module: siblingModule(import.meta.url, 'image-worker'),
    workerData: { path: database, filesDirectory: files, maxBytes } satisfies ImageThreadData,
    maxCalls: MAX_PENDING_CALLS,
    restartMs: RESTART_MS,
    clock,
    onEnded: (error) => onEvent({ kind: 'worker-ended', error }),
    onNotice: (notice) => onEvent(notice as ImageNotice),
  });
  let usage = NOTHING_STORED;
  let tidying: Promise<void> | undefined;
  let tidyAtMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const times = () => timesOf(clock);

  async function open(): Promise<void> {
    usage = await thread.call('readUsage', times());
  }

  async function find(key: string): Promise<Buffer | StoredFile | undefined> {
    const found = await thread.call('find', { key, ...times() });
    if (found === undefined || 'path' in found) return found;
    return Buffer.from(found.buffer, found.byteOffset, found.length);
  }

  async function discard(key: string): Promise<undefined> {
    await thread.call('discard', { key, ...times() });
  }

  async function setRow(row: NewRow) {
    const { result, usage: newUsage } = await thread.call('set', { ...row, ...times() });
    // Set here, because a later call may end before the caller continues.
    usage = newUsage;
    return result;
  }

  async function setFile(row: Omit<NewRow, 'content'>, bytes: Buffer) {
    const file = `${randomUUID()}.image`;
    let result: Awaited<ReturnType<typeof setRow>> | undefined;
    try {
      makeDirectory(files);
      await writeFile(join(files, file), bytes, { flag: 'wx' });
      result = await setRow({ ...row, content: { file, checksum: await checksumInSteps(row.key, bytes) } });
      return result;
    } finally {
      if (result !== 'stored') await rm(join(files, file), { force: true });
    }
  }

  async function eraseChannels(channelIds: readonly string[]): Promise<Erased> {
    const erased = { images: 0, bytes: 0 };
    for (;;) {
      const step = await thread.call('eraseStep', { channelIds, ...times() });
      usage = step.usage;
      erased.images += step.images;
      erased.bytes += step.bytes;
      if (step.images === 0) return erased;
    }
  }

  /** The folder of an earlier version has nothing that this one reads. */
  async function deleteFormer(): Promise<void> {
    try {
      await stat(former);
      await rm(former, { recursive: true });
      onEvent({ kind: 'former-deleted', path: former });
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) onEvent({ kind: 'former-not-deleted', path: former, error });
    }
  }

  async function deleteOrphans(): Promise<void> {
    const names = await readdir(files).catch((): string[] => []);
    for (let at = 0; at < names.length && !isClosed; at += NAMES_PER_STEP) {
      await thread.call('removeOrphans', { names: names.slice(at, at + NAMES_PER_STEP), ...times() });
    }
  }

  async function tidyNow(): Promise<void> {
    await deleteFormer();
    for (let isDone = false; !isDone && !isClosed; ) {
      const step = await thread.call('tidyStep', times());
      usage = step.usage;
      isDone = step.isDone;
    }
    await deleteOrphans();
    tidyAtMs = clock.monotonic() + TIDY_MS;
  }

  return {
    async get(key) {
      const found = await find(key);
      if (found === undefined || Buffer.isBuffer(found)) return found;
      const bytes = await readFile(found.path).catch(ignoreMissing);
      const isSound = bytes?.length === found.size && (await checksumInSteps(key, bytes)) === found.checksum;
      return isSound ? bytes : discard(key);
    },

    async findForReading(key) {
      const found = await find(key);
      if (found === undefined) return undefined;
      if (Buffer.isBuffer(found)) return { bytes: found };
      const stats = await stat(found.path).catch(ignoreMissing);
      return stats?.size === found.size ? { path: found.path } : discard(key);
    },

    noteUse: (key) => thread.call('noteUse', { key, ...times() }),

    open,

    async set(key, bytes) {
      const kind = isOriginalBytes(key) ? 'original' : 'encoded';
      const size = bytes.length;
      const image: NewImage = { kind, size, isFile: kind === 'original' || size > MAX_ROW_BYTES };
      const row = { key, channel: channelOfImage(key), image };
      while (await thread.call('makeRoom', { image, ...times() }));
      await (image.isFile ? setFile(row, bytes) : setRow({ ...row, content: { bytes } }));
    },

    async erase(channelIds) {
      const erased = { images: 0, bytes: 0 };
      for (let at = 0; at < channelIds.length; at += CHANNELS_PER_STEP) {
        const step = await eraseChannels(channelIds.slice(at, at + CHANNELS_PER_STEP));
        erased.images += step.images;
        erased.bytes += step.bytes;
      }
      // Also if there was none: an earlier erasure may have failed to do it.
      await thread.call('finishErasing', times());
      return erased;
    },

    async tidy() {
      if (isClosed || clock.monotonic() < tidyAtMs) return;
      tidying ??= tidyNow().finally(() => {
        tidying = undefined;
      });
      await tidying;
    },

    tryToWrite: () => thread.call('writePage', times()),

    usage: () => ({ ...usage, maxBytes }),
    calls: thread.stats,

    async close() {
      isClosed = true;
      await thread.close();
    },
  };
}

/** The same as `checksumOf`. */
async function checksumInSteps(key: string, bytes: Buffer): Promise<number> {
  let checksum = crc32(key);
  for await (const part of inSteps(bytes)) checksum = crc32(part, checksum);
  return checksum;
}

function ignoreMissing(error: unknown): undefined {
  if (!hasErrorCode(error, 'ENOENT')) throw error;
}
