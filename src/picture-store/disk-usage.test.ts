import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES } from '../../test/helpers/file-store.ts';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createDiskUsage } from './disk-usage.ts';
import { type FileClass, type FileName, parseFileName, shardAt } from './file-names.ts';

function fileOf(bytes: number, fileClass: FileClass = 'plain'): FileName {
  return { digest: '0'.repeat(40), bytes, checksum: 0, fileClass, isOriginal: false };
}

describe('the disk usage', () => {
  it('is the sum over all directories, in blocks', () => {
    const usage = createDiskUsage();
    usage.count('000', [fileOf(1), fileOf(BLOCK_BYTES + 1)]);
    usage.count('fff', [fileOf(1, 'custom')]);
    expect(usage.ofClass('plain')).toEqual({ bytes: 3 * BLOCK_BYTES, files: 2 });
    expect(usage.ofClass('custom')).toEqual({ bytes: BLOCK_BYTES, files: 1 });
    expect(usage.directoryBytes()).toBe(2 * BLOCK_BYTES);
    expect([usage.hasClass('000', 'plain'), usage.hasClass('000', 'custom')]).toEqual([true, false]);
  });

  it('follows a directory that is counted again', () => {
    const usage = createDiskUsage();
    usage.count('abc', [fileOf(10_000), fileOf(7, 'custom')]);
    usage.count('abc', [fileOf(7, 'custom')]);
    expect(usage.ofClass('plain')).toEqual({ bytes: 0, files: 0 });
    usage.count('abc', []);
    expect([usage.ofClass('custom'), usage.directoryBytes()]).toEqual([{ bytes: 0, files: 0 }, 0]);
  });

  memoryTest('takes the same memory for any number of files', async () => {
    const FILES_PER_SHARD = 50;
    const heldBytes = await measureHeldBytes(() => {
      const usage = createDiskUsage();
      for (let number = 0; number < 4_096; number += 1) {
        const shard = shardAt(number);
        const names = Array.from({ length: FILES_PER_SHARD }, (_, index) =>
          parseFileName(`${shard}${String(index).padStart(37, '0')}-12345-0123abcd.plain`),
        );
        usage.count(shard, names as FileName[]);
      }
      return usage;
    });
    // Sums of 24 bytes for each of 4,096 directories, here for 204,800 files.
    expect(heldBytes).toBeLessThan(400_000);
  });
});
