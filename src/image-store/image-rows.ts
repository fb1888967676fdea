import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { findClassToEvict, type NewImage, type Quota, readUsage } from './quota.ts';
import type { RecordedUses } from './recorded-uses.ts';
import { type ImageRow, type ImageStatements, spaceOf } from './schema.ts';

/** The bytes, or the name of a complete file. */
export type ImageContent = { readonly bytes: Uint8Array } | { readonly file: string; readonly checksum: number };

interface Addition {
  readonly key: string;
  readonly channel: string;
  readonly image: NewImage;
  readonly content: ImageContent;
  readonly nowMs: number;
}

interface Eviction {
  readonly removed: number;
  readonly hasRoom: boolean;
}

/** Changes of rows and of their files, within a transaction. */
interface ImageRows {
  add(statements: ImageStatements, addition: Addition): void;
  /** Removes the file first: if it cannot be removed, the row stays. */
  remove(statements: ImageStatements, row: ImageRow): void;
  /** Evicts up to `maxRows` images, the least recently used first, until the new one has room. */
  evictFor(statements: ImageStatements, image: NewImage, maxRows: number): Eviction;
}

export function createImageRows(filesDirectory: string, quota: Quota, uses: RecordedUses): ImageRows {
  function remove(statements: ImageStatements, { row, file }: ImageRow): void {
    if (file !== null) rmSync(join(filesDirectory, file), { force: true });
    uses.forget(row);
    statements.remove.run(row);
  }

  return {
    add(statements, { key, channel, image, content, nowMs }) {
      const { kind, size, isFile } = image;
      const file = 'file' in content ? content.file : null;
      const checksum = 'file' in content ? content.checksum : crc32(content.bytes, crc32(key));
      const space = spaceOf(size, isFile);
      const { lastInsertRowid } = statements.add.run(key, channel, kind, size, space, checksum, nowMs, file);
      if ('bytes' in content) statements.addContent.run(lastInsertRowid, content.bytes);
    },

    remove,

    evictFor(statements, image, maxRows) {
      for (let removed = 0; ; removed += 1) {
        const imageClass = findClassToEvict(quota, readUsage(statements), image);
        if (imageClass === undefined) return { removed, hasRoom: true };
        if (imageClass === 'none' || removed === maxRows) return { removed, hasRoom: false };
        const victim = statements.leastRecentlyUsed.get(imageClass === 'custom' ? 1 : 0) as unknown as
          | ImageRow
          | undefined;
        if (victim === undefined) return { removed, hasRoom: false };
        remove(statements, victim);
      }
    },
  };
}

export function rowsOf(rows: readonly unknown[]): readonly ImageRow[] {
  return rows as readonly ImageRow[];
}

export function findRow({ find }: ImageStatements, key: string): ImageRow | undefined {
  return find.get(key) as unknown as ImageRow | undefined;
}
