import { describe, expect, it } from 'vitest';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createFileIndex, type IndexedFile, indexedFile } from './file-index.ts';
import { type FileClass, type FileName, parseFileName } from './file-names.ts';

const HOUR_MS = 3_600_000;

function fileOf(number: number, bytes = 1, fileClass: FileClass = 'plain'): IndexedFile {
  const digest = number.toString(16).padStart(40, '0');
  return indexedFile({ digest, bytes, checksum: 0, fileClass, isOriginal: false }, 0);
}

describe('the index of files', () => {
  it('orders files by the hour of their last use, then by the order of use', () => {
    const index = createFileIndex();
    index.put(fileOf(1), 5 * HOUR_MS);
    index.put(fileOf(2), 2 * HOUR_MS);
    index.put(fileOf(3), 9 * HOUR_MS);
    index.put(fileOf(4), 2 * HOUR_MS + 1);
    index.use(index.find(fileOf(2).digest) as IndexedFile, 9 * HOUR_MS + 1);
    const order: number[] = [];
    for (let file = index.leastRecentlyUsed('plain'); file !== undefined; file = index.leastRecentlyUsed('plain')) {
      order.push(Number.parseInt(file.digest, 16));
      index.remove(file);
    }
    expect(order).toEqual([4, 1, 3, 2]);
    expect(index.totals('plain')).toEqual({ bytes: 0, files: 0 });
  });

  it('counts a replaced file once', () => {
    const index = createFileIndex();
    index.put(fileOf(1, 10_000), 0);
    index.put(fileOf(1, 7, 'custom'), 0);
    expect(index.totals('plain')).toEqual({ bytes: 0, files: 0 });
    expect(index.totals('custom')).toEqual({ bytes: 4_096, files: 1 });
  });

  it('does not remove the file that has replaced the one to remove', () => {
    const index = createFileIndex();
    const first = fileOf(1);
    index.put(first, 0);
    index.put(fileOf(1), 0);
    index.remove(first);
    expect(index.totals('plain').files).toBe(1);
  });

  memoryTest('takes some 200 bytes of memory for each file', async () => {
    const FILES = 60_000;
    const heldBytes = await measureHeldBytes(() => {
      const index = createFileIndex();
      for (let number = 0; number < FILES; number += 1) {
        // As a scan finds them: the digest is a part of the file's name.
        const name = `${String(number).padStart(40, '0')}-12345-0123abcd.plain`;
        index.put(indexedFile(parseFileName(name) as FileName, number), number);
      }
      return index;
    });
    expect(heldBytes / FILES).toBeLessThan(260);
  });
});
