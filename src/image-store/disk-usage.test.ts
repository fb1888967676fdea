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
    const usage = createDiskUsage(Number.MAX_SAFE_INTEGER, 10_000_000);
    usage.count('000', [fileOf(1), fileOf(BLOCK_BYTES + 1)]);
    const plainBytes = 3 * BLOCK_BYTES;
    expect(usage.stats()).toMatchObject({ entries: 2, bytes: plainBytes + BLOCK_BYTES, plainBytes, customBytes: 0 });
    usage.count('fff', [fileOf(1, 'custom')]);
    const customBytes = BLOCK_BYTES;
    const bytes = plainBytes + customBytes + 2 * BLOCK_BYTES;
    expect(usage.stats()).toMatchObject({ entries: 3, bytes, plainBytes, customBytes });
    expect([usage.countOf('000', 'plain'), usage.countOf('000', 'custom')]).toEqual([2, 0]);
  });

  it('follows a directory that is counted again', () => {
    const usage = createDiskUsage(Number.MAX_SAFE_INTEGER, 10_000_000);
    usage.count('abc', [fileOf(10_000), fileOf(7, 'custom')]);
    usage.count('abc', [fileOf(7, 'custom')]);
    expect(usage.stats()).toMatchObject({ entries: 1, plainBytes: 0 });
    expect(usage.countOf('abc', 'plain')).toBe(0);
    usage.count('abc', []);
    expect(usage.stats()).toMatchObject({ entries: 0, bytes: 0, plainBytes: 0, customBytes: 0 });
  });

  memoryTest('takes the same memory for any number of files', async () => {
    const FILES_PER_SHARD = 50;
    const heldBytes = await measureHeldBytes(() => {
      const usage = createDiskUsage(Number.MAX_SAFE_INTEGER, 10_000_000);
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
