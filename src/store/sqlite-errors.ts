/** A file that opens, and whose content is not what we wrote: a bad check, a bad checksum, another layout. */
export class DamagedFileError extends Error {}

/** Result codes of sqlite.org/rescode.html: the low byte is the kind, the whole number the special case. */
const SQLITE_ERROR = 1;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
const SQLITE_IOERR_SHORT_READ = 522;

/** `SQLITE_ERROR` among them: our statements never change, so a missing column means that the tables are not ours. */
const DAMAGE_CODES = new Set([SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB]);
const LOSS_OF_ACCESS_CODES = new Set([SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN]);

/** True where the file's content is at fault; a full disk, a lock or missing rights are not. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFileError) return true;
  const code = resultCodeOf(error);
  return DAMAGE_CODES.has(code & 0xff) || code === SQLITE_IOERR_SHORT_READ;
}

/** True where the file may be sound, but this connection to it is of no use any more. */
export function isLossOfAccess(error: unknown): boolean {
  return LOSS_OF_ACCESS_CODES.has(resultCodeOf(error) & 0xff);
}

/** 0 for what is no error of SQLite's. */
function resultCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
