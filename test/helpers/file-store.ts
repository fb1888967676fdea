import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createDiskFileStore, type DiskFileStoreEvent } from '../../src/image-store/disk-files.ts';
import { createManualClock } from './clock.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** A file store in its own directory, which a test may open several times. It is closed when the test ends. */
export async function setUpFileStore(options: { maxBytes?: number; maxFiles?: number; directory?: string } = {}) {
  const directory = options.directory ?? (await createTemporaryDirectory());
  const clock = createManualClock();
  const events: DiskFileStoreEvent[] = [];

  function open(maxBytes = options.maxBytes ?? 1_000_000, maxFiles = options.maxFiles ?? 1_000) {
    const files = createDiskFileStore({ directory, maxBytes, maxFiles, clock, onEvent: (event) => events.push(event) });
    onTestFinished(() => files.close());
    return files;
  }

  async function openScanned(maxBytes?: number, maxFiles?: number) {
    const scans = countOf('scanned');
    const files = open(maxBytes, maxFiles);
    await expect.poll(() => countOf('scanned')).toBe(scans + 1);
    return files;
  }

  function countOf(kind: DiskFileStoreEvent['kind']) {
    return events.filter((event) => event.kind === kind).length;
  }

  return { directory, clock, events, open, openScanned, countOf };
}

/** The key of the only image of its channel, so that few of such files are in one directory. */
export function keyOf(name: string): string {
  return `image/${name}/x`;
}

/** Content of a given length that is unique to the text. */
export function bytesOf(text: string, length = 1_000): Buffer {
  return Buffer.alloc(length, text);
}

/** The smallest unit of disk space. */
export const BLOCK_BYTES = 4_096;
/** The disk usage of one small file with its directory. */
export const SMALL_FILE_BYTES = 2 * BLOCK_BYTES;

/** The disk usage of all files below a directory, in whole blocks, including their directories. */
export async function bytesOnDisk(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  const blocks = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES), 0);
  return (blocks + new Set(files.map(({ parentPath }) => parentPath)).size) * BLOCK_BYTES;
}

/** Names of the directories that files are in, empty ones too. */
export async function shardsOf(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => /^[0-9a-f]{3}$/.test(name));
}

/** The path of a stored file. */
export async function pathOf(files: ReturnType<typeof createDiskFileStore>, key: string): Promise<string> {
  return (await files.findPath(key)) ?? expect.fail(`${key} is not stored`);
}
