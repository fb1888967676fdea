import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createDiskFileStore, type DiskFileStoreEvent } from '../../src/cache/disk-files.ts';
import { createManualClock } from './clock.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** A file store in a directory of its own, opened as often as a test likes; a test ends what it opened. */
export async function setUpFileStore(options: { maxBytes?: number; directory?: string } = {}) {
  const directory = options.directory ?? (await createTemporaryDirectory());
  const clock = createManualClock();
  const events: DiskFileStoreEvent[] = [];

  function open(maxBytes = options.maxBytes ?? 1_000_000) {
    const files = createDiskFileStore({ directory, maxBytes, clock, onEvent: (event) => events.push(event) });
    onTestFinished(() => files.close());
    return files;
  }

  async function openScanned(maxBytes?: number) {
    const scans = countOf('scanned');
    const files = open(maxBytes);
    await expect.poll(() => countOf('scanned')).toBe(scans + 1);
    return files;
  }

  function countOf(kind: DiskFileStoreEvent['kind']) {
    return events.filter((event) => event.kind === kind).length;
  }

  return { directory, clock, events, open, openScanned, countOf };
}

/** Content of a length, told from others by its text. */
export function bytesOf(text: string, length = 1_000): Buffer {
  return Buffer.alloc(length, text);
}

/** Of all files below a directory. */
export async function bytesOnDisk(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Where a stored file lies. */
export async function pathOf(
  files: { findPath(key: string): Promise<string | undefined> },
  key: string,
): Promise<string> {
  const path = await files.findPath(key);
  if (path === undefined) throw new Error(`${key} is not stored`);
  return path;
}
