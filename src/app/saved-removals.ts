import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../lib/logger.ts';
import { type Checked, fields, listOf, optional, parseJson, text } from '../lib/shape.ts';
import { isRemoval } from '../store/removal.ts';

const isState = fields({
  /** What could not be erased yet. */
  unfinished: fields({ store: listOf(isRemoval), images: listOf(isRemoval) }),
  /** The position in the erasures that instances share in Redis. */
  redis: optional(text(/^\d{1,16}-\d{1,16}$/)),
  /** A fingerprint of the blocked channels whose data has been removed: their IDs are not stored. */
  takenDown: text(),
});

type State = Checked<typeof isState>;

export type SavedRemovals = ReturnType<typeof openSavedRemovals>;

/** What is removed from a `DATA_DIR` and what remains to be removed, for the next start. */
export function openSavedRemovals(dataDir: string, logger: Logger) {
  const path = join(dataDir, 'removals.json');
  let state = readState(path);
  let isReported = false;

  return {
    state: (): State => state,
    /** Changes some of the state. A failure is reported once. The next start then removes some data again. */
    save(changed: Partial<State>): void {
      state = { ...state, ...changed };
      try {
        mkdirSync(dataDir, { recursive: true });
        writeFileSync(`${path}.tmp`, JSON.stringify(state));
        renameSync(`${path}.tmp`, path);
      } catch (error) {
        if (!isReported) logger.warn({ err: error }, 'removals cannot be saved: the next start removes data again');
        isReported = true;
      }
    },
  };
}

const NOTHING_SAVED: State = {
  unfinished: { store: [], images: [] },
  redis: undefined,
  takenDown: '',
};

/** `NOTHING_SAVED` if the file is missing, unreadable or not written by the service. */
function readState(path: string): State {
  try {
    return parseJson(readFileSync(path, 'utf8'), isState) ?? NOTHING_SAVED;
  } catch {
    return NOTHING_SAVED;
  }
}
