import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../domain/errors.ts';
import { printable } from '../../lib/printable.ts';
import { primaryCodeOf } from '../../lib/sqlite.ts';

export interface CatalogPaths {
  readonly database: string;
  /** The folder of the images, which are named by `CatalogImage.fileName`. */
  readonly images: string;
}

export function catalogPaths(dataDir: string): CatalogPaths {
  return { database: join(dataDir, 'catalog.db'), images: join(dataDir, 'catalog-images') };
}

/** Enough for a path and a piece of advice. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** The catalog is unusable. The message, for the operator, names the file and says what to do. */
export class CatalogUnusableError extends OperatorError {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message, MAX_MESSAGE_CHARACTERS), options);
    this.name = 'CatalogUnusableError';
  }
}

/**
 * The pages of a connection that stay in memory: enough for the indexes of a million channels without their lowest level.
 * SQLite's default is 2,000.
 */
export const PAGE_CACHE_KIB = 64_000;

/** In `PRAGMA user_version`, so that a database of another program is recognized. */
const SCHEMA_VERSION = 3;

const SCHEMA = `
  CREATE TABLE channels (
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
    links TEXT, -- JSON
    imported_at_ms INTEGER NOT NULL -- since 1970
  ) STRICT;
  CREATE INDEX channels_by_title ON channels (title_key);
  CREATE INDEX channels_by_handle ON channels (handle_search_key);
  CREATE VIRTUAL TABLE channel_text USING fts5 (
    handle, title, description,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'",
    prefix = '1 2 3 4 5 6 7 8'
  );
  INSERT INTO channel_text (channel_text, rank) VALUES ('hashsize', 33554432);
  -- Find the images that no record names without reading every record.
  CREATE INDEX channels_by_banner ON channels (banner_file) WHERE banner_file IS NOT NULL;
  CREATE INDEX channels_by_avatar ON channels (avatar_file) WHERE avatar_file IS NOT NULL;
`;

/**
 * Creates the tables in an empty database, inside the caller's write transaction.
 *
 * @throws CatalogUnusableError as `hasTables`
 */
export function createSchema(db: DatabaseSync, path: string): void {
  if (hasTables(db, path)) return;
  db.exec(SCHEMA);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

/**
 * Whether the database has the tables of a catalog. False if it is empty.
 *
 * @throws CatalogUnusableError if it is another database
 */
export function hasTables(db: DatabaseSync, path: string): boolean {
  const version = readNumber(db, 'PRAGMA user_version');
  if (version === SCHEMA_VERSION) return true;
  if (version === 0 && readNumber(db, 'SELECT count(*) FROM sqlite_schema') === 0) return false;
  throw new CatalogUnusableError(`${path} is no catalog of this version: move it away, or set another DATA_DIR.`);
}

/** @throws CatalogUnusableError also if the database has no tables: every catalog has them, also one without channels */
export function requireTables(db: DatabaseSync, path: string): void {
  if (!hasTables(db, path)) throw new CatalogUnusableError(`${path} is empty: import your backup.`);
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}

/** Runs database work and translates its errors with `explainFailure`. */
export function explainingFailure<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainFailure(path, error);
  }
}

/**
 * Translates SQLite's errors about a broken, locked or unreachable file to a `CatalogUnusableError`. All other errors, such
 * as wrong statements, are bugs and stay unchanged.
 */
export function explainFailure(path: string, error: unknown): unknown {
  const code = primaryCodeOf(error);
  if (!(error instanceof Error) || code === 0 || BUG_CODES.has(code)) return error;
  const message = DAMAGE_CODES.has(code)
    ? `${path} is damaged (${error.message}): move it away and import your backup. It is left as it is.`
    : `${path} cannot be used (${error.message}): check that its disk has room, and that it and its folder can be read and written.`;
  return new CatalogUnusableError(message, { cause: error });
}

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE_CODES = new Set([11, 26]);
/** SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_MISUSE, SQLITE_RANGE. */
const BUG_CODES = new Set([1, 19, 20, 21, 25]);
