import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { printable } from '../../domain/printable.ts';
import { makeDirectory } from '../../lib/file-system.ts';

export interface CatalogPaths {
  readonly database: string;
  /** The folder of the pictures; `OriginalRef.fileName` is a name in it. */
  readonly images: string;
}

export function catalogPaths(dataDir: string): CatalogPaths {
  return { database: join(dataDir, 'catalog.db'), images: join(dataDir, 'catalog-images') };
}

/** A path and what to do about it. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** The catalog cannot be used as it is. The message names the file and says what to do: it is for the operator. */
export class CatalogUnusableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(printable(message, MAX_MESSAGE_CHARACTERS), cause === undefined ? undefined : { cause });
    this.name = 'CatalogUnusableError';
  }
}

/** It is sound, but of another version. */
export class CatalogVersionError extends CatalogUnusableError {
  /** Else newer. */
  readonly isOlder: boolean;

  constructor(message: string, { isOlder }: { readonly isOlder: boolean }) {
    super(message);
    this.name = 'CatalogVersionError';
    this.isOlder = isOlder;
  }
}

/**
 * Each step takes a catalog to the version that is its place in this list, counted from 1 and kept in `PRAGMA
 * user_version`; the first makes the tables in an empty database. Steps are added, never changed.
 */
export const SCHEMA_STEPS: readonly string[] = [
  `CREATE TABLE channels (
    row INTEGER PRIMARY KEY, -- in order of subscribers
    channel_id TEXT NOT NULL UNIQUE,
    title_key TEXT NOT NULL,
    handle_key TEXT UNIQUE,
    handle_search_key TEXT,
    username_key TEXT UNIQUE,
    banner_file TEXT,
    avatar_file TEXT,
    title TEXT NOT NULL,
    custom_url TEXT,
    username TEXT,
    published_at TEXT,
    country TEXT,
    subscriber_count TEXT,
    view_count TEXT,
    video_count TEXT,
    description TEXT,
    links TEXT -- JSON
  ) STRICT;
  CREATE INDEX channels_by_title ON channels (title_key);
  CREATE INDEX channels_by_handle ON channels (handle_search_key);
  CREATE VIRTUAL TABLE channel_text USING fts5 (
    handle, title, description,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'",
    prefix = '1 2 3 4 5 6 7 8'
  );
  INSERT INTO channel_text (channel_text, rank) VALUES ('hashsize', 33554432);`,
];

/** Makes the tables in an empty database, and brings those of an older one up. The caller holds a write transaction. */
export function upgradeSchema(db: DatabaseSync, steps = SCHEMA_STEPS): void {
  for (const [index, step] of steps.entries()) {
    if (schemaVersion(db) === index) db.exec(`${step} PRAGMA user_version = ${index + 1}`);
  }
}

/**
 * Tells a database with our tables from one of an older version and from one that is still empty.
 *
 * @throws CatalogUnusableError when it is neither.
 */
export function readSchemaState(db: DatabaseSync, path: string, steps = SCHEMA_STEPS): 'ready' | 'older' | 'empty' {
  const version = schemaVersion(db);
  if (version === steps.length) return 'ready';
  if (version > steps.length) {
    const advice = 'run that version, or export the catalog with it and import it into a new DATA_DIR with this one.';
    const versions = `schema ${version}, this one knows ${steps.length}`;
    throw new CatalogVersionError(`${path} was written by a newer Pennant (${versions}): ${advice}`, {
      isOlder: false,
    });
  }
  if (version > 0) return 'older';
  if (readNumber(db, 'SELECT count(*) FROM sqlite_schema') === 0) return 'empty';
  throw new CatalogUnusableError(`${path} is a database of something else: move it away, or set another DATA_DIR.`);
}

/**
 * The same for those that only read; false while it is still empty.
 *
 * @throws CatalogUnusableError also when it is older.
 */
export function hasOwnTables(db: DatabaseSync, path: string, steps = SCHEMA_STEPS): boolean {
  const state = readSchemaState(db, path, steps);
  if (state === 'older') {
    const problem = `${path} was written by an older Pennant: run "pennant catalog upgrade".`;
    throw new CatalogVersionError(problem, { isOlder: true });
  }
  return state === 'ready';
}

function schemaVersion(db: DatabaseSync): number {
  return readNumber(db, 'PRAGMA user_version');
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}

export interface OpenOptions {
  readonly readOnly: boolean;
  /** How long to wait for another process's lock. */
  readonly busyTimeoutMs: number;
}

/**
 * Opens a catalog database that exists.
 *
 * @throws CatalogUnusableError when there is no such file or it is no database.
 */
export function openExisting(path: string, { readOnly, busyTimeoutMs }: OpenOptions): DatabaseSync {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    throw new CatalogUnusableError(`There is no catalog at ${path}: start the server once, or import channels.`);
  }
  return explainingFailure(path, () => new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs }));
}

/** Runs database work; what it throws is explained (`explainFailure`). */
export function explainingFailure<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainFailure(path, error);
  }
}

/**
 * What SQLite reports of a broken, locked or unreachable file, as a `CatalogUnusableError`. Anything else, a wrong
 * statement above all, stays what it is: a bug.
 */
export function explainFailure(path: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  const code = error.errcode & PRIMARY_CODE_MASK;
  if (BUG_CODES.has(code)) return error;
  return new CatalogUnusableError(DAMAGE_CODES.has(code) ? damaged(path, error) : unusable(path, error), error);
}

function damaged(path: string, error: Error): string {
  return (
    `${path} is damaged (${error.message}): stop the server and put a backup in its place, or move the file away ` +
    'and import your channels again. It is left as it is.'
  );
}

function unusable(path: string, error: Error): string {
  return `${path} cannot be used (${error.message}): check that it and its folder can be read and written.`;
}

interface SqliteError extends Error {
  readonly errcode: number;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error;
}

/** sqlite.org/rescode.html: the low byte of an extended code is the primary one. */
const PRIMARY_CODE_MASK = 0xff;
/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE_CODES = new Set([11, 26]);
/** SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_MISUSE, SQLITE_RANGE. */
const BUG_CODES = new Set([1, 19, 20, 21, 25]);

/** A folder in which a new catalog is built before it gets its name. */
const DRAFT_PREFIX = 'catalog.new-';
/** Much longer than a draft takes: another process may be writing one. */
const ABANDONED_MS = 600_000;

/** Creates a folder for a draft, and removes folders that a killed process left behind. */
export function createDraftFolder(dataDir: string): string {
  makeDirectory(dataDir);
  for (const path of draftsIn(dataDir, DRAFT_PREFIX)) {
    const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedAtMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(join(dataDir, ownPrefix()));
}

/** Removes this process's drafts when it ends early. A folder that cannot be removed stays until it counts as abandoned. */
export function removeOwnDrafts(dataDir: string): void {
  try {
    for (const path of draftsIn(dataDir, ownPrefix())) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

function ownPrefix(): string {
  return `${DRAFT_PREFIX}${process.pid}-`;
}

function draftsIn(dataDir: string, prefix: string): string[] {
  if (statSync(dataDir, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(dataDir)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(dataDir, name));
}
