/** The file can be opened, but its content is damaged or has another layout. */
export class DamagedFileError extends Error {}

/** Result codes (sqlite.org/rescode.html). The low byte is the primary code. */
const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
const SQLITE_IOERR_SHORT_READ = 522;

/** Includes `SQLITE_ERROR`: the statements are fixed, so a missing column means that the tables are foreign. */
const DAMAGE_CODES = new Set([SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB]);
const LOSS_OF_ACCESS_CODES = new Set([SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN]);

/** True when the file's content is damaged; false for a full disk, a lock or missing permissions. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFileError) return true;
  const code = resultCodeOf(error);
  return DAMAGE_CODES.has(code & 0xff) || code === SQLITE_IOERR_SHORT_READ;
}

/** True if the file may be intact but this connection can no longer be used. */
export function isLossOfAccess(error: unknown): boolean {
  return LOSS_OF_ACCESS_CODES.has(resultCodeOf(error) & 0xff);
}

/** True if the disk has no room for a change. */
export function isFullDisk(error: unknown): boolean {
  return (resultCodeOf(error) & 0xff) === SQLITE_FULL;
}

/** Returns 0 for an error that is not SQLite's. */
function resultCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
