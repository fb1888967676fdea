import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { cachePath, createCacheFile } from '../../src/cache/cache-file.ts';
import { createImageStore, type ImageStore } from '../../src/cache/image-store.ts';
import { CACHE_SCHEMA } from '../../src/cache/schema.ts';
import type { Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';
import { recordLog } from './log.ts';
import { createTestRuntime } from './runtime.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

export const MIB = 2 ** 20;

/** The images of a data directory, as a process opens them. Without memory, unless a size is given. */
export async function openImages(
  dataDir: string,
  maxBytes: number,
  { runtime = createTestRuntime(), maxMemoryBytes = 0 }: { runtime?: Runtime; maxMemoryBytes?: number } = {},
): Promise<ImageStore & { close(): void }> {
  const file = createCacheFile({ path: cachePath(dataDir), schema: CACHE_SCHEMA, runtime });
  const images = createImageStore({ file, maxBytes, maxMemoryBytes, runtime });
  await images.shrink();
  return { ...images, close: file.close };
}

/** A data directory whose images a test may open several times, as one process after another does. */
export async function setUpImages(options: { dataDir?: string; maxBytes?: number; maxMemoryBytes?: number } = {}) {
  const { dataDir = await createTemporaryDirectory() } = options;
  const database = cachePath(dataDir);
  const clock = createManualClock();
  const { logger, lines } = recordLog();
  return {
    dataDir,
    database,
    clock,
    /** The kinds of the lines in the log. */
    logged: () => lines.map(({ kind }) => kind),
    async open(maxBytes = options.maxBytes ?? 64 * MIB) {
      const runtime = createTestRuntime({ clock, logger });
      const images = await openImages(dataDir, maxBytes, { ...options, runtime });
      onTestFinished(images.close);
      return images;
    },
    /** What the images count against the quota. */
    usage: () => ({ entries: storedRowsIn(dataDir).length, bytes: storedBytesIn(dataDir) }),
    change: (sql: string) => changeImages(dataDir, sql),
  };
}

/** Content of a given length that is unique to the text. */
export function bytesOf(text: string, length = 20_000): Buffer {
  return Buffer.alloc(length, `<${text}>`);
}

export interface StoredRow {
  readonly key: string;
  readonly channel: string;
  readonly isOriginal: boolean;
}

/** What is stored in a data directory, which may be in use. */
export function storedRowsIn(dataDir: string): readonly StoredRow[] {
  const rows = query(dataDir, 'SELECT key, channel, is_original FROM images');
  return rows.map((row) => ({ ...row, isOriginal: row.is_original === 1 })) as unknown as StoredRow[];
}

function storedBytesIn(dataDir: string): number {
  return Number(query(dataDir, 'SELECT bytes FROM image_usage')[0]?.bytes);
}

function query(dataDir: string, sql: string) {
  if (!existsSync(cachePath(dataDir))) return [];
  const db = new DatabaseSync(cachePath(dataDir), { readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** Overwrites the bytes of every image. */
export function damageImages(dataDir: string): void {
  changeImages(dataDir, 'UPDATE contents SET content = zeroblob(length(content))');
}

/** Runs SQL beside the users of the database. */
export function changeImages(dataDir: string, sql: string): void {
  const db = new DatabaseSync(cachePath(dataDir));
  db.exec(sql);
  db.close();
}
