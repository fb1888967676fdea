import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { createDiskImages, type DiskImages, type DiskImagesEvent } from '../../src/image-store/disk-images.ts';
import { type ImagePaths, imagePaths, type RowKind } from '../../src/image-store/schema.ts';
import { readDatabase } from '../../src/lib/sqlite.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

export const MIB = 2 ** 20;

export interface ImageDirectory extends ImagePaths {
  readonly dataDir: string;
  readonly clock: ManualClock;
  readonly events: DiskImagesEvent[];
  /** As a process of its own does. It is closed when the test ends. */
  open(maxBytes?: number): DiskImages;
  /** Runs SQL in the closed database, or beside its users. */
  change(sql: string): void;
}

/** A data directory whose images a test may open several times. */
export async function setUpImages(options: { dataDir?: string; maxBytes?: number } = {}): Promise<ImageDirectory> {
  const { dataDir = await createTemporaryDirectory() } = options;
  const paths = imagePaths(dataDir);
  const clock = createManualClock();
  const events: DiskImagesEvent[] = [];
  return {
    ...paths,
    dataDir,
    clock,
    events,
    open(maxBytes = options.maxBytes ?? 64 * MIB) {
      const images = createDiskImages({ dataDir, maxBytes, clock, onEvent: (event) => events.push(event) });
      onTestFinished(() => images.close());
      return images;
    },
    change(sql) {
      const db = new DatabaseSync(paths.database);
      db.exec(sql);
      db.close();
    },
  };
}

/** The size of the database, its log and the files beside it. */
export async function bytesOfImages({ dataDir }: Pick<ImageDirectory, 'dataDir'>): Promise<number> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path.startsWith(join(dataDir, 'images.db')));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.size ?? 0));
  return sizes.reduce((total, size) => total + size, 0);
}

/** Content of a given length that is unique to the text. */
export function bytesOf(text: string, length = 20_000): Buffer {
  return Buffer.alloc(length, `<${text}>`);
}

export function imageOf(channelId: string, name: string): string {
  return `image4/${channelId}/0123/${name}.avif`;
}

export function originalOf(channelId: string, digest = '0123'): string {
  return `original/${channelId}/${digest}`;
}

/** The path of a stored original. */
export async function pathOf(images: Pick<DiskImages, 'findForReading'>, key: string): Promise<string> {
  const found = await images.findForReading(key);
  if (found === undefined || !('path' in found)) throw new Error(`${key} is not stored as a file.`);
  return found.path;
}

export interface StoredRow {
  readonly key: string;
  readonly channel: string;
  readonly kind: RowKind;
}

/** What is stored in a data directory, which may be in use. */
export function storedRowsIn(dataDir: string): readonly StoredRow[] {
  const { database } = imagePaths(dataDir);
  if (!existsSync(database)) return [];
  return readDatabase(database, (db) =>
    db.prepare('SELECT key, channel, kind FROM images').all(),
  ) as unknown as StoredRow[];
}

/** Overwrites the bytes of every image of a stopped service. */
export function damageImages(dataDir: string): void {
  const { database, files } = imagePaths(dataDir);
  const db = new DatabaseSync(database);
  db.exec('UPDATE contents SET content = zeroblob(length(content))');
  db.close();
  for (const name of existsSync(files) ? readdirSync(files) : []) {
    writeFileSync(join(files, name), Buffer.alloc(statSync(join(files, name)).size, 'damaged'));
  }
}
