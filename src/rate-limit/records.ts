/** The fields of a client's record under one limit. Each field has one writer. */
export const FIELD = {
  /** Written by the index: three words of fingerprint, the number of the limit, and the next record in the bucket. */
  fingerprint: 0,
  limit: 3,
  nextInBucket: 4,
  /** Written by the timestamp pool. */
  times: 5,
  firstTime: 6,
  lastTime: 7,
  /** Written by the ranks. */
  rank: 8,
  previous: 9,
  next: 10,
} as const;

export const FIELD_COUNT = 11;

/** No record. */
export const NONE = -1;

/** Records by number, each of a fixed count of 32-bit integers. */
export interface Records {
  /** Returns a record with all fields 0. */
  take(): number;
  /** Releases a record for reuse. */
  release(record: number): void;
  get(record: number, field: number): number;
  set(record: number, field: number, value: number): void;
  stats(): { readonly entries: number; readonly bytes: number };
}

const BLOCK_BITS = 14;
const RECORDS_PER_BLOCK = 1 << BLOCK_BITS;
const RECORD_MASK = RECORDS_PER_BLOCK - 1;
/** The field of an unused record that links to the next unused one. */
const NEXT_FREE = 0;

/**
 * Stores records outside the garbage-collected heap: with a million small objects, each collection would block the
 * event loop for tens of milliseconds. Grows in blocks, because a growing array would have to be copied.
 */
export function createRecords(fieldCount: number): Records {
  const blocks: Int32Array[] = [];
  let used = 0;
  let taken = 0;
  let firstFree = NONE;

  function get(record: number, field: number): number {
    return (blocks[record >> BLOCK_BITS] as Int32Array)[(record & RECORD_MASK) * fieldCount + field] as number;
  }

  function set(record: number, field: number, value: number): void {
    (blocks[record >> BLOCK_BITS] as Int32Array)[(record & RECORD_MASK) * fieldCount + field] = value;
  }

  function takeReleased(): number {
    const record = firstFree;
    firstFree = get(record, NEXT_FREE);
    for (let field = 0; field < fieldCount; field += 1) set(record, field, 0);
    return record;
  }

  function takeUnused(): number {
    if (used === blocks.length * RECORDS_PER_BLOCK) blocks.push(new Int32Array(RECORDS_PER_BLOCK * fieldCount));
    used += 1;
    return used - 1;
  }

  return {
    take() {
      taken += 1;
      return firstFree === NONE ? takeUnused() : takeReleased();
    },
    release(record) {
      taken -= 1;
      set(record, NEXT_FREE, firstFree);
      firstFree = record;
    },
    get,
    set,
    stats: () => ({ entries: taken, bytes: blocks.length * RECORDS_PER_BLOCK * fieldCount * 4 }),
  };
}

/** Clients' records in lists by rank, each in insertion order. Every change takes constant time. */
export interface ClientRanks {
  /** Moves the record to the end of a rank. */
  place(record: number, rank: number): void;
  remove(record: number): void;
  /** The record that was placed in this rank first, or `NONE`. */
  first(rank: number): number;
}

/** In a record, ranks are counted from 1: a new record, all zeros, is in none. */
const UNRANKED = 0;

export function createClientRanks(records: Records): ClientRanks {
  const firsts: number[] = [];
  const lasts: number[] = [];

  function remove(record: number): void {
    const rank = records.get(record, FIELD.rank) - 1;
    if (rank < 0) return;
    const previous = records.get(record, FIELD.previous);
    const next = records.get(record, FIELD.next);
    if (previous === NONE) firsts[rank] = next;
    else records.set(previous, FIELD.next, next);
    if (next === NONE) lasts[rank] = previous;
    else records.set(next, FIELD.previous, previous);
    records.set(record, FIELD.rank, UNRANKED);
  }

  return {
    place(record, rank) {
      remove(record);
      const last = lasts[rank] ?? NONE;
      if (last === NONE) firsts[rank] = record;
      else records.set(last, FIELD.next, record);
      lasts[rank] = record;
      records.set(record, FIELD.rank, rank + 1);
      records.set(record, FIELD.previous, last);
      records.set(record, FIELD.next, NONE);
    },
    remove,
    first: (rank) => firsts[rank] ?? NONE,
  };
}
