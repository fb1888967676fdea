import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { cachePath, createCacheFile } from '../../src/cache/cache-file.ts';
import { createImageTable, type ImageTable } from '../../src/cache/image-table.ts';
import type { OriginalId } from '../../src/cache/images.ts';
import { CACHE_SCHEMA } from '../../src/cache/schema.ts';
import type { Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';
import { recordLog } from './log.ts';
import { createTestRuntime } from './runtime.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

export const MIB = 2 ** 20;

interface OpenImages extends ImageTable {
  close(): void;
}

/** The images of a data directory, as a process opens them. */
export async function openImages(
  dataDir: string,
  maxBytes: number,
  runtime: Runtime = createTestRuntime(),
): Promise<OpenImages> {
  const file = createCacheFile({ path: cachePath(dataDir), schema: CACHE_SCHEMA, runtime });
  const table = createImageTable({ file, maxBytes, runtime });
  await table.shrink();
  return { ...table, close: file.close };
}

/** A data directory whose images a test may open several times, as one process after another does. */
export async function setUpImages(options: { dataDir?: string; maxBytes?: number } = {}) {
  const { dataDir = await createTemporaryDirectory() } = options;
  const database = cachePath(dataDir);
  const clock = createManualClock();
  const { logger, lines } = recordLog();
  const runtime = createTestRuntime({ clock, logger });
  return {
    dataDir,
    database,
    clock,
    /** The kinds of the lines in the log. */
    logged: () => lines.map(({ kind }) => kind),
    async open(maxBytes = options.maxBytes ?? 64 * MIB): Promise<OpenImages> {
      const images = await openImages(dataDir, maxBytes, runtime);
      onTestFinished(images.close);
      return images;
    },
    change: (sql: string) => changeImages(dataDir, sql),
  };
}

/** Content of a given length that is unique to the text. */
export function bytesOf(text: string, length = 20_000): Buffer {
  return Buffer.alloc(length, `<${text}>`);
}

export function originalOf(channelId: string, bytes: Buffer): OriginalId {
  return { channelId, digest: createHash('sha256').update(bytes).digest('hex').slice(0, 32) };
}

export interface StoredRow {
  readonly key: string;
  readonly channel: string;
  readonly isOriginal: boolean;
}

/** What is stored in a data directory, which may be in use. */
export function storedRowsIn(dataDir: string): readonly StoredRow[] {
  const database = cachePath(dataDir);
  if (!existsSync(database)) return [];
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    const rows = db.prepare('SELECT key, channel, is_original FROM images').all();
    return rows.map((row) => ({ ...row, isOriginal: row.is_original === 1 })) as unknown as StoredRow[];
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
