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

/** The catalog is intact but has another version. */
export class CatalogVersionError extends CatalogUnusableError {}

/**
 * The pages of a connection that stay in memory: enough for the indexes of a million channels without their lowest level.
 * SQLite's default is 2,000.
 */
export const PAGE_CACHE_KIB = 64_000;

/** In `PRAGMA user_version`. A change of the tables raises it and adds its upgrade to `UPGRADES`. */
export const SCHEMA_VERSION = 3;

/** By version, the statements that turn its tables into those of the next one. They keep all channels: no other copy exists. */
const UPGRADES: Readonly<Record<number, () => string>> = {
  // Existing rows get the time of the upgrade, as a default: then no row has to be written.
  2: () => `
    ALTER TABLE channels ADD COLUMN imported_at_ms INTEGER NOT NULL DEFAULT ${Date.now()};
    DROP TABLE IF EXISTS changes;
    DROP TABLE IF EXISTS change_log`,
};

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
 * Creates the tables in an empty database, or upgrades those of an earlier version, inside the caller's write transaction.
 *
 * @throws CatalogUnusableError as `readSchemaState`
 */
export function createSchema(db: DatabaseSync, path: string): void {
  const state = readSchemaState(db, path);
  if (state === 'current') return;
  if (state === 'empty') db.exec(SCHEMA);
  else
    for (let version = schemaVersion(db); version < SCHEMA_VERSION; version += 1) db.exec(UPGRADES[version]?.() ?? '');
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

/**
 * Whether the database has the tables. `outdated`: those of an earlier version, which `createSchema` upgrades.
 *
 * @throws CatalogUnusableError if it is of another version or not a catalog
 */
export function readSchemaState(db: DatabaseSync, path: string): 'current' | 'outdated' | 'empty' {
  const version = schemaVersion(db);
  if (version === SCHEMA_VERSION) return 'current';
  if (Object.hasOwn(UPGRADES, version)) return 'outdated';
  if (version !== 0) {
    const advice = 'run that version, or export the catalog with it and import it into a new DATA_DIR with this one.';
    const versions = `schema ${version}, this one knows ${SCHEMA_VERSION}`;
    throw new CatalogVersionError(`${path} was written by another version of Pennant (${versions}): ${advice}`);
  }
  if (readNumber(db, 'SELECT count(*) FROM sqlite_schema') === 0) return 'empty';
  throw new CatalogUnusableError(`${path} is a database of another program: move it away, or set another DATA_DIR.`);
}

/** @throws CatalogUnusableError also if the database has no tables: every catalog has them, also one without channels */
export function requireTables(db: DatabaseSync, path: string): 'current' | 'outdated' {
  const state = readSchemaState(db, path);
  if (state !== 'empty') return state;
  throw new CatalogUnusableError(`${path} is empty: import your backup.`);
}

function schemaVersion(db: DatabaseSync): number {
  return readNumber(db, 'PRAGMA user_version');
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
