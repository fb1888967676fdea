/** The worker thread that uses `images.db`, so that its calls do not block the event loop. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import type { Times } from '../lib/clock.ts';
import { createDisposableDatabase } from '../lib/disposable-database.ts';
import { emptyLog, inTransaction, isFullDisk } from '../lib/sqlite.ts';
import { notify, serveCalls } from '../lib/worker-thread.ts';
import { checksumOf } from '../store/keys.ts';
import { exceeds, hasRoomFor, type NewImage, NOTHING, neverFits, readUsage, type Usage } from './quota.ts';
import { createRecordedUses } from './recorded-uses.ts';
import {
  type ImageRow,
  type ImageStatements,
  PAGE_BYTES,
  prepareSchema,
  prepareStatements,
  spaceOf,
} from './schema.ts';

/** The bytes, or the name of a complete file. */
type ImageContent = { readonly bytes: Uint8Array } | { readonly file: string; readonly checksum: number };

export interface ImageThreadData {
  /** The database. */
  readonly path: string;
  /** The folder of the images that are files. */
  readonly filesDirectory: string;
  /** The quota for the database, its log and the files. */
  readonly maxBytes: number;
}

export type ImageNotice =
  | { readonly kind: 'rebuilt'; readonly reason: string }
  /** An image was removed because its bytes had changed. */
  | { readonly kind: 'damaged'; readonly key: string };

/** An image that is a file. */
export interface StoredFile {
  readonly path: string;
  readonly size: number;
  /** CRC-32 of key and bytes. */
  readonly checksum: number;
}

/** What was removed: images, and their bytes on the disk. */
export interface Erased {
  readonly images: number;
  readonly bytes: number;
}

/** Writes of another process take milliseconds. An image that has to wait longer is not kept. */
const WRITE_TIMEOUT_MS = 50;
const UNUSED_MS = 30 * 86_400_000;
/** A last use that is further in the future is wrong. Corrections of the clock are smaller. */
const AHEAD_MS = 3_600_000;
/** A step takes some milliseconds, during which other calls wait. */
const ROWS_PER_STEP = 16;
const PAGES_PER_STEP = 64;
/** A newer file without a row may be that of an image that is being stored. */
const ORPHAN_MS = 3_600_000;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const MIN_LOG_PAGES = 4;

const { path, filesDirectory, maxBytes } = workerData as ImageThreadData;
/** The log counts against the quota as a whole. */
const logBytes = Math.min(MAX_LOG_BYTES, Math.floor(maxBytes / 8));
const quota = { maxBytes, logBytes };
const uses = createRecordedUses();
const { use, usePatiently, ...database } = createDisposableDatabase({
  path,
  prepare,
  waitMs: WRITE_TIMEOUT_MS,
  mayShrink: true,
  onRebuilt(reason) {
    uses.forgetAll();
    notify({ kind: 'rebuilt', reason } satisfies ImageNotice);
  },
});

const functions = {
  readUsage: (times: Times): Usage => use(times, readUsage),

  find({ key, ...times }: Times & { key: string }): Uint8Array | StoredFile | undefined {
    return use(times, (statements, db) => {
      const row = findRow(statements, key);
      if (row === undefined) return undefined;
      if (row.file !== null) {
        uses.note(statements, db, row, times.nowMs);
        return { path: join(filesDirectory, row.file), size: row.size, checksum: row.checksum };
      }
      const bytes = statements.content.get(row.row)?.content as Uint8Array | undefined;
      if (bytes === undefined || bytes.length !== row.size || checksumOf(key, bytes) !== row.checksum) {
        discard(statements, db, key);
        return undefined;
      }
      uses.note(statements, db, row, times.nowMs);
      return bytes;
    });
  },

  noteUse: ({ key, ...times }: Times & { key: string }): void =>
    use(times, (statements, db) => {
      const row = findRow(statements, key);
      if (row !== undefined) uses.note(statements, db, row, times.nowMs);
    }),

  /** Removes an image whose file is missing or damaged. */
  discard: ({ key, ...times }: Times & { key: string }) => use(times, (statements, db) => discard(statements, db, key)),

  /**
   * Makes some room for an image: evicts others and, because a file uses no free pages, gives pages back to the disk. Returns
   * true if there is more to do.
   */
  makeRoom: ({ image, ...times }: Times & { image: NewImage }): boolean =>
    use(times, (statements, db) => {
      if (neverFits(quota, image)) return false;
      const isEnough = hasRoomFor(quota, readUsage(statements), image);
      if (isEnough) return image.isFile && giveBackSurplus(statements, db, image);
      const { removed } = inTransaction(db, () => {
        uses.record(statements);
        return evictFor(statements, image, times.nowMs);
      });
      return removed > 0;
    }),

  /** `no-room`: the image is too large for the quota, or others have just used the room. */
  set(call: Times & { key: string; channel: string; image: NewImage; content: ImageContent }) {
    const { key, image, nowMs } = call;
    return use(call, (statements, db) =>
      inTransaction(db, () => {
        uses.record(statements);
        const earlier = findRow(statements, key);
        if (earlier !== undefined) removeRow(statements, earlier);
        const isKept = !neverFits(quota, image) && evictFor(statements, image, nowMs).hasRoom;
        if (isKept) addRow(statements, call);
        return { result: isKept ? ('stored' as const) : ('no-room' as const), usage: readUsage(statements) };
      }),
    );
  },

  /** Removes some images of the channels. */
  eraseStep(call: Times & { channelIds: readonly string[] }) {
    const { channelIds } = call;
    const erase = (statements: ImageStatements, maxRows: number): Erased & { usage: Usage } => {
      const found: ImageRow[] = [];
      for (const channelId of channelIds) {
        if (found.length < maxRows) found.push(...rowsOf(statements.ofChannel.all(channelId, maxRows - found.length)));
      }
      for (const row of found) removeRow(statements, row);
      const bytes = found.reduce((total, { size }) => total + size, 0);
      return { images: found.length, bytes, usage: readUsage(statements) };
    };
    return usePatiently(call, (statements, db) =>
      withSpace(db, (maxRows) => inTransaction(db, () => erase(statements, maxRows))),
    );
  },

  /** Removes the erased bytes from the log too, and waits until they are gone from the disk. */
  finishErasing(times: Times): void {
    usePatiently(times, (_, db) => {
      db.exec('PRAGMA synchronous = FULL');
      try {
        emptyLog(db);
      } finally {
        db.exec('PRAGMA synchronous = OFF');
      }
    });
  },

  /** Does some of the work that is due: unused images, a lowered quota, free pages. */
  tidyStep(times: Times): { isDone: boolean; usage: Usage } {
    return use(times, (statements, db) => {
      const { removed, usage } = inTransaction(db, () => {
        uses.record(statements);
        const unused = rowsOf(statements.unusedSince.all(times.nowMs - UNUSED_MS, ROWS_PER_STEP));
        for (const row of unused) removeRow(statements, row);
        const evicted = evictFor(statements, NOTHING, times.nowMs).removed;
        return { removed: unused.length + evicted, usage: readUsage(statements) };
      });
      const isDone = removed === 0 && !giveBackPages(statements, db);
      // Only then is the file smaller.
      if (isDone) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return { isDone, usage };
    });
  },

  /** Writes a page. Fails if the disk cannot be written. */
  writePage: (times: Times) => use(times, (_, db) => db.exec('PRAGMA application_id = 0')),

  /** Removes the files with these names that have no row and are old. */
  removeOrphans({ names, ...times }: Times & { names: readonly string[] }): void {
    use(times, (statements) => {
      for (const name of names) {
        const file = join(filesDirectory, name);
        const modifiedAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? times.nowMs;
        const isOld = times.nowMs - modifiedAtMs > ORPHAN_MS;
        if (isOld && statements.withFile.get(name) === undefined) rmSync(file, { force: true });
      }
    });
  },
};

export type ImageFunctions = typeof functions;

serveCalls(functions, close);

function prepare(db: DatabaseSync): ImageStatements {
  // A new database has no rows for the files of a former one: an erasure would not find them.
  if (statSync(path).size === 0) removeFiles();
  const logPages = Math.max(MIN_LOG_PAGES, Math.floor(logBytes / 2 / PAGE_BYTES));
  // Writes do not wait for the disk, because no image could be read meanwhile. A process that is killed loses nothing; a
  // power failure may damage the file.
  db.exec(`PRAGMA synchronous = OFF; PRAGMA journal_size_limit = ${logBytes}; PRAGMA wal_autocheckpoint = ${logPages}`);
  prepareSchema(db);
  // Deleted data is overwritten with zeros: a channel that was taken down must not remain in free pages.
  db.exec('PRAGMA secure_delete = ON');
  return prepareStatements(db);
}

function close(): void {
  try {
    if (uses.hasAny()) use({ monotonicMs: Number.NEGATIVE_INFINITY }, uses.tryToRecord);
  } catch {
    // The file is no longer usable. The uses are not recorded.
  }
  database.close();
}

function rowsOf(rows: readonly unknown[]): readonly ImageRow[] {
  return rows as readonly ImageRow[];
}

function findRow({ find }: ImageStatements, key: string): ImageRow | undefined {
  return rowsOf(find.all(key))[0];
}

function addRow(statements: ImageStatements, call: Parameters<(typeof functions)['set']>[0]): void {
  const { key, channel, image, content, nowMs } = call;
  const { kind, size, isFile } = image;
  const file = 'file' in content ? content.file : null;
  const checksum = 'file' in content ? content.checksum : checksumOf(key, content.bytes);
  const space = spaceOf(size, isFile);
  const { lastInsertRowid } = statements.add.run(key, channel, kind, size, space, checksum, nowMs, file);
  if ('bytes' in content) statements.addContent.run(lastInsertRowid, content.bytes);
}

/** Removes the file first: if it cannot be removed, the row stays. */
function removeRow(statements: ImageStatements, { row, file }: ImageRow): void {
  if (file !== null) rmSync(join(filesDirectory, file), { force: true });
  uses.forget(row);
  statements.remove.run(row);
}

/** Evicts some images, the least recently used first, until the new one has room. */
function evictFor(statements: ImageStatements, image: NewImage, nowMs: number) {
  for (let removed = 0; ; removed += 1) {
    if (hasRoomFor(quota, readUsage(statements), image)) return { removed, hasRoom: true };
    if (removed === ROWS_PER_STEP) return { removed, hasRoom: false };
    // First those of a time when the clock was ahead. Otherwise each new image would be evicted before them.
    const [ahead] = rowsOf(statements.usedAfter.all(nowMs + AHEAD_MS));
    const victim = ahead ?? rowsOf(statements.leastRecentlyUsed.all())[0];
    if (victim === undefined) return { removed, hasRoom: false };
    removeRow(statements, victim);
  }
}

function discard(statements: ImageStatements, db: DatabaseSync, key: string): void {
  inTransaction(db, () => {
    const row = findRow(statements, key);
    if (row !== undefined) removeRow(statements, row);
  });
  notify({ kind: 'damaged', key } satisfies ImageNotice);
}

/** A deletion needs space in the log. On a full disk, emptying the log may give enough for one row. */
function withSpace<T>(db: DatabaseSync, change: (maxRows: number) => T): T {
  try {
    return change(ROWS_PER_STEP);
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    emptyLog(db);
    return change(1);
  }
}

/** Returns false if there are no free pages. */
function giveBackPages({ pages }: ImageStatements, db: DatabaseSync): boolean {
  const free = () => Number(pages.get()?.free);
  const before = free();
  if (before === 0) return false;
  db.exec(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`);
  return free() < before;
}

/** Rows use free pages, files do not. Returns true if there may be more to give back. */
function giveBackSurplus(statements: ImageStatements, db: DatabaseSync, image: NewImage): boolean {
  if (!exceeds(quota, readUsage(statements), image)) return false;
  const hasGiven = giveBackPages(statements, db);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return hasGiven;
}

function removeFiles(): void {
  rmSync(filesDirectory, { recursive: true, force: true });
}
