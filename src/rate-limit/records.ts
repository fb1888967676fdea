/** No record. */
export const NONE = -1;

/** Records by number, each of a fixed count of 32-bit integers. */
export interface Records {
  /** A record whose fields are all 0. */
  take(): number;
  /** The number may be given out again. */
  release(record: number): void;
  get(record: number, field: number): number;
  set(record: number, field: number, value: number): void;
  stats(): { readonly entries: number; readonly bytes: number };
}

const BLOCK_BITS = 14;
const RECORDS_PER_BLOCK = 1 << BLOCK_BITS;
const RECORD_MASK = RECORDS_PER_BLOCK - 1;
/** Of a record that is not in use. */
const NEXT_FREE = 0;

/**
 * Keeps records outside of the garbage-collected heap: with a million small objects, each collection would stop the event
 * loop for tens of milliseconds. Grows in blocks, since an array that doubles would have to be copied.
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
