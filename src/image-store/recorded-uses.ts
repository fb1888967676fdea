import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, isDamage } from '../lib/sqlite.ts';
import type { ImageRow, ImageStatements } from './schema.ts';

/** A use is recorded once in this time, so that most reads need no write. */
const USE_RECORDED_MS = 3_600_000;
const MAX_UNRECORDED_USES = 64;

/** The last uses of images, by row, until they are recorded many at a time. */
export interface RecordedUses {
  note(statements: ImageStatements, db: DatabaseSync, row: ImageRow, nowMs: number): void;
  /** Records the uses. Called within a transaction, before rows are chosen by their last use. */
  record(statements: ImageStatements): void;
  /** Records the uses in a transaction of its own. Drops them if the disk is full or the file is busy. */
  tryToRecord(statements: ImageStatements, db: DatabaseSync): void;
  hasAny(): boolean;
  /** The row is removed. */
  forget(row: number): void;
  forgetAll(): void;
}

export function createRecordedUses(): RecordedUses {
  const uses = new Map<number, number>();

  function record({ use }: ImageStatements): void {
    for (const [row, usedAtMs] of uses) use.run(usedAtMs, row);
    uses.clear();
  }

  function tryToRecord(statements: ImageStatements, db: DatabaseSync): void {
    try {
      inTransaction(db, () => record(statements));
    } catch (error) {
      if (isDamage(error)) throw error;
      uses.clear();
    }
  }

  return {
    note(statements, db, { row, usedAtMs }, nowMs) {
      // Negative after the clock was set back: the recorded time is wrong.
      const sinceRecordedMs = nowMs - usedAtMs;
      if (sinceRecordedMs >= 0 && sinceRecordedMs < USE_RECORDED_MS) return;
      uses.set(row, nowMs);
      if (uses.size >= MAX_UNRECORDED_USES) tryToRecord(statements, db);
    },
    record,
    tryToRecord,
    hasAny: () => uses.size > 0,
    forget: (row) => void uses.delete(row),
    forgetAll: () => uses.clear(),
  };
}
