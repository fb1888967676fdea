import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { nameOf } from '../../domain/identifier.ts';
import { createChangeLogWriter, type LoggedChange } from './change-log.ts';
import { RecordRefusedError } from './parse-record.ts';
import { firstRowOf, ROWS_PER_COUNT } from './popularity.ts';
import type { CatalogRecord } from './record.ts';
import { keysOf, RECORD_COLUMNS, recordOf } from './rows.ts';
import { indexedText } from './search-text.ts';

/** Puts single records into the tables and takes them out. All within the caller's write transaction. */
export interface RecordStatements {
  /** @throws RecordRefusedError when the handle or user name belongs to another channel. */
  refuseConflicts(record: CatalogRecord): void;
  /** @throws RecordRefusedError when there is no row left for the subscriber count. */
  put(record: CatalogRecord): 'added' | 'replaced';
  remove(channelId: string): boolean;
  /**
   * Writes the log of what the calls before it have changed, and brings the full-text index up to date, in the order of
   * its rows: FTS5 writes a new segment to disk whenever a row number is smaller than the one before.
   */
  flush(): void;
}

export function createRecordStatements(db: DatabaseSync): RecordStatements {
  const selectFormer = db.prepare(`SELECT row, ${RECORD_COLUMNS} FROM channels WHERE channel_id = ?`);
  const selectHandleOwner = db.prepare('SELECT channel_id FROM channels WHERE handle_key = ? AND channel_id <> ?');
  const selectUsernameOwner = db.prepare('SELECT channel_id FROM channels WHERE username_key = ? AND channel_id <> ?');
  const selectLastRow = db.prepare('SELECT max(row) AS row FROM channels WHERE row >= ? AND row < ?');
  const deleteRow = db.prepare('DELETE FROM channels WHERE row = ?');
  const insertRow = db.prepare(`
    INSERT INTO channels (row, channel_id, title_key, handle_key, handle_search_key, username_key, banner_file,
      avatar_file, title, custom_url, username, published_at, country, subscriber_count, view_count, video_count,
      description, links)
    VALUES (:row, :channelId, :titleKey, :handleKey, :handleSearchKey, :usernameKey, :bannerFile,
      :avatarFile, :title, :customUrl, :username, :publishedAt, :country, :subscriberCount, :viewCount, :videoCount,
      :description, :links)`);
  const deleteText = db.prepare('DELETE FROM channel_text WHERE rowid = ?');
  const insertText = db.prepare('INSERT INTO channel_text (rowid, handle, title, description) VALUES (?, ?, ?, ?)');

  const log = createChangeLogWriter(db);

  let changes: LoggedChange[] = [];
  let textsToDelete = new Set<number>();
  let textsToInsert = new Map<number, CatalogRecord>();

  function findFormer(channelId: string): { readonly row: number; readonly record: CatalogRecord } | undefined {
    const found = selectFormer.get(channelId);
    return found === undefined ? undefined : { row: Number(found.row), record: recordOf(found) };
  }

  function noteChange(former: CatalogRecord | undefined, record: CatalogRecord | undefined): void {
    // A nightly import of the same file changes nothing that anybody would have to forget.
    if (isDeepStrictEqual(former, record)) return;
    const names = new Set([former, record].flatMap((each) => (each === undefined ? [] : namesOf(each))));
    const channelId = (record ?? former)?.channelId ?? '';
    changes.push({ channelId, names: [...names], isRemoved: record === undefined });
  }

  function allocateRow(subscriberCount: string | null, formerRow: number | undefined): number {
    const first = firstRowOf(subscriberCount);
    const end = first + ROWS_PER_COUNT;
    if (formerRow !== undefined && formerRow >= first && formerRow < end) return formerRow;
    const last = selectLastRow.get(first, end)?.row;
    const next = typeof last === 'number' ? last + 1 : first;
    if (next < end) return next;
    throw new RecordRefusedError('subscriberCount', `shared by more than ${ROWS_PER_COUNT} channels`);
  }

  function takeOut(row: number): void {
    deleteRow.run(row);
    if (!textsToInsert.delete(row)) textsToDelete.add(row);
  }

  return {
    refuseConflicts(record) {
      const { handleKey, usernameKey } = keysOf(record);
      const handleOwner = selectHandleOwner.get(handleKey, record.channelId);
      if (handleOwner !== undefined) throw belongsTo('customUrl', record.customUrl, handleOwner.channel_id);
      const usernameOwner = selectUsernameOwner.get(usernameKey, record.channelId);
      if (usernameOwner !== undefined) throw belongsTo('username', record.username, usernameOwner.channel_id);
    },
    put(record) {
      const former = findFormer(record.channelId);
      const formerRow = former?.row;
      const row = allocateRow(record.subscriberCount, formerRow);
      if (formerRow !== undefined) takeOut(formerRow);
      const links = record.links === null ? null : JSON.stringify(record.links);
      insertRow.run({ ...record, ...keysOf(record), row, links });
      textsToInsert.set(row, record);
      noteChange(former?.record, record);
      return formerRow === undefined ? 'added' : 'replaced';
    },
    remove(channelId) {
      const former = findFormer(channelId);
      if (former === undefined) return false;
      takeOut(former.row);
      noteChange(former.record, undefined);
      return true;
    },
    flush() {
      if (changes.length > 0) log.add(changes);
      changes = [];
      const deletions = [...textsToDelete].sort(ascending);
      const insertions = [...textsToInsert].sort(([a], [b]) => ascending(a, b));
      textsToDelete = new Set();
      textsToInsert = new Map();
      for (const row of deletions) deleteText.run(row);
      for (const [row, { customUrl, title, description }] of insertions) {
        insertText.run(row, indexedText(customUrl ?? ''), indexedText(title), indexedText(description ?? ''));
      }
    },
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

function belongsTo(field: string, name: string | null, owner: unknown): RecordRefusedError {
  return new RecordRefusedError(field, `${name} belongs to the channel ${owner}`);
}

/** What a record is found by, beside its ID. */
function namesOf(record: CatalogRecord): string[] {
  const { handleKey, usernameKey } = keysOf(record);
  return [
    ...(handleKey === null ? [] : [nameOf({ kind: 'handle', key: handleKey })]),
    ...(usernameKey === null ? [] : [nameOf({ kind: 'username', key: usernameKey })]),
  ];
}
