import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { cachePath } from '../../src/cache/cache-file.ts';
import { createImageStore, type ImageId, type ImageStore } from '../../src/cache/image-store.ts';
import { createRows, createValueStore } from '../../src/cache/rows.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Runtime } from '../../src/lib/runtime.ts';
import type { OpenStore } from './cache.ts';
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
  const rows = createRows({ path: cachePath(dataDir), quotas: { values: 0, images: maxBytes }, runtime });
  await rows.shrink();
  return { ...createImageStore({ rows, maxMemoryBytes, runtime }), close: rows.close };
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
    usage: () => ({ entries: storedImagesIn(dataDir).length, bytes: storedBytesIn(dataDir, 'images') }),
    change: (sql: string) => changeCache(dataDir, sql),
  };
}

/** Content of a given length that is unique to the text. */
export function bytesOf(text: string, length = 20_000): Buffer {
  return Buffer.alloc(length, `<${text}>`);
}

/** The images and originals that are stored in a data directory, which may be in use. */
export function storedImagesIn(dataDir: string): readonly ImageId[] {
  const rows = query(dataDir, "SELECT key, is_original FROM rows WHERE share = 'images'");
  return rows.map(({ key, is_original }) => ({ key: String(key), isOriginal: is_original === 1 }));
}

/** What values or images count against their quota. */
export function storedBytesIn(dataDir: string, share: 'values' | 'images'): number {
  return Number(query(dataDir, `SELECT bytes FROM usage WHERE share = '${share}'`)[0]?.bytes);
}

/** The values of a data directory, as a process opens them. */
export function openValues(
  dataDir: string,
  { clock, maxBytes = 64 * MIB }: { clock: Clock; maxBytes?: number },
): OpenStore {
  const quotas = { values: maxBytes, images: 0 };
  const rows = createRows({ path: cachePath(dataDir), quotas, runtime: createTestRuntime({ clock }) });
  return { ...createValueStore(rows), close: rows.close };
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

const IMAGES = "share = 'images'";
/** Overwrites the bytes of every image and original. */
export const DAMAGE_IMAGES = `
  UPDATE contents SET content = zeroblob(length(content)) WHERE row IN (SELECT row FROM rows WHERE ${IMAGES})
`;
export const DELETE_IMAGES = `DELETE FROM rows WHERE ${IMAGES}`;
export const DELETE_ORIGINALS = `${DELETE_IMAGES} AND is_original = 1`;

/** Runs SQL beside the users of the database. */
export function changeCache(dataDir: string, sql: string): void {
  const db = new DatabaseSync(cachePath(dataDir));
  db.exec(sql);
  db.close();
}
