import { describe, expect, it } from 'vitest';
import { createFileIndex, type IndexedFile, indexedFile } from './file-index.ts';
import type { FileClass } from './files.ts';

const HOUR_MS = 3_600_000;

function fileOf(number: number, usedAtMs: number, bytes = 1, fileClass: FileClass = 'plain'): IndexedFile {
  return indexedFile({ digest: `digest ${number}`, bytes, checksum: 0, fileClass, isOriginal: false }, usedAtMs);
}

describe('the index of files', () => {
  it('takes files in any order and gives the least recently used hour first, then the order of use', () => {
    const index = createFileIndex();
    index.put(fileOf(1, 5 * HOUR_MS));
    index.put(fileOf(2, 2 * HOUR_MS));
    index.put(fileOf(3, 9 * HOUR_MS));
    index.put(fileOf(4, 2 * HOUR_MS + 1));
    index.use(index.find('digest 2') as IndexedFile, 9 * HOUR_MS + 1);
    const order: string[] = [];
    for (let file = index.leastRecentlyUsed('plain'); file !== undefined; file = index.leastRecentlyUsed('plain')) {
      order.push(file.digest);
      index.remove(file);
    }
    expect(order).toEqual(['digest 4', 'digest 1', 'digest 3', 'digest 2']);
    expect(index.totals('plain')).toEqual({ bytes: 0, files: 0 });
  });

  it('counts a file that takes the place of another once', () => {
    const index = createFileIndex();
    index.put(fileOf(1, 0, 10));
    index.put(fileOf(1, 0, 7, 'custom'));
    expect(index.totals('plain')).toEqual({ bytes: 0, files: 0 });
    expect(index.totals('custom')).toEqual({ bytes: 7, files: 1 });
  });

  it('leaves the file alone that has taken the place of the one to remove', () => {
    const index = createFileIndex();
    const first = fileOf(1, 0);
    index.put(first);
    index.put(fileOf(1, 0));
    index.remove(first);
    expect(index.totals('plain').files).toBe(1);
  });

  it('finds and removes the next file to go in a moment, with a hundred thousand files of one hour', () => {
    const index = createFileIndex();
    for (let number = 0; number < 100_000; number += 1) index.put(fileOf(number, number));
    const spentMs: number[] = [];
    for (let number = 0; number < 100_000; number += 1) {
      const startedMs = performance.now();
      const file = index.leastRecentlyUsed('plain');
      if (file !== undefined) index.remove(file);
      spentMs.push(performance.now() - startedMs);
    }
    expect(index.totals('plain').files).toBe(0);
    // The hundred slowest may have met the collector or a busy machine.
    spentMs.sort((left, right) => right - left);
    expect(spentMs[100]).toBeLessThan(1);
  });
});
