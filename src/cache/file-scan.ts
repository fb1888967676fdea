import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../lib/error-code.ts';
import { listed, removeIfAllowed } from './directories.ts';
import { type FileIndex, type IndexedFile, indexedFile } from './file-index.ts';
import { type FileName, parseFileName, relativePathOf } from './file-names.ts';

/**
 * Adds every sound file below the directory to the index, and removes those of ours that are cut or outdated. Waits for
 * the disk directory by directory, so that nothing else has to wait for it.
 *
 * @param signal ends the scan early, without an error.
 */
export async function scanFiles(directory: string, index: FileIndex, signal: AbortSignal): Promise<void> {
  for await (const name of fileNamesIn(directory)) {
    if (signal.aborted) return;
    await add(directory, name, index);
  }
}

/** The names of all files below the directory that are ours. */
export async function* fileNamesIn(directory: string): AsyncGenerator<FileName> {
  for (const shard of await listed(directory)) {
    for (const name of (await listed(join(directory, shard))).map(parseFileName)) {
      if (name !== undefined) yield name;
    }
  }
}

async function add(directory: string, name: FileName, index: FileIndex): Promise<void> {
  const path = join(directory, relativePathOf(name));
  const file = await inspect(path, name);
  if (file === undefined) return;
  const known = index.find(name.digest);
  if (known === undefined) {
    index.put(file);
  } else if (relativePathOf(known) !== relativePathOf(name)) {
    // Two contents of one key: the other process, or an earlier one that was killed, has left the older.
    await removeIfAllowed(path);
  }
}

/** The file as the index has it; `undefined` when it is gone, or was removed because its length is wrong. */
export async function inspect(path: string, name: FileName): Promise<IndexedFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    if (size === name.bytes) return indexedFile(name, mtimeMs);
    await removeIfAllowed(path);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
  return undefined;
}
