import { hash as digest, randomFillSync } from 'node:crypto';

/** The number of no log and of no cell. Numbers begin with 1, because new memory is all zeros. */
export const NONE = 0;

/** The 32-bit fields of a log. */
const FINGERPRINT = 0;
const LIMIT = 3;
const NEXT_IN_BUCKET = 4;
const LENGTH = 5;
const FIRST_CELL = 6;
const LAST_CELL = 7;
/** The rank plus 1. 0 in a new log, which has no rank. */
const RANK = 8;
const PREVIOUS_IN_RANK = 9;
const NEXT_IN_RANK = 10;
const FIELD_COUNT = 11;
/** A released log has only this field. */
const NEXT_RELEASED = 0;

const FINGERPRINT_WORDS = 3;
const BLOCK_BITS = 14;
/** The logs or cells of a block. */
const BLOCK_LENGTH = 1 << BLOCK_BITS;
const IN_BLOCK = BLOCK_LENGTH - 1;
const CELL_BYTES = 16;
/** 64 MiB of buckets. */
const MAX_BUCKET_BITS = 24;

interface CellBlock {
  readonly times: Float64Array;
  readonly nextCells: Int32Array;
  /** Not set for the first cell of a log. */
  readonly previousCells: Int32Array;
}

/**
 * The logs of clients' admitted requests, by number. They are stored outside the garbage-collected heap: with a million
 * small objects, each collection would block the event loop for tens of milliseconds. Logs and cells grow in blocks,
 * because a growing array would have to be copied. Every operation takes constant time.
 *
 * Stores no text: clients are identified by fingerprints of 96 bits.
 *
 * @param maxLogs the number of logs that the hash table is made for. With many more, searches are slower
 */
export function createClientLogs(maxLogs: number) {
  const { get, set, take, release, stats: recordStats } = createRecords();
  const bucketBits = Math.min(MAX_BUCKET_BITS, Math.max(1, Math.ceil(Math.log2(maxLogs))));
  /** A hash table: the first log of each bucket. It is made with the first log, because its megabytes would delay the start. */
  let firstInBucket: Int32Array | undefined;
  const hashes = Array.from({ length: FINGERPRINT_WORDS }, () => createKeyedHash());
  const sought = new Int32Array(FINGERPRINT_WORDS);
  let soughtClient: string | undefined;
  /** Each time is in a cell, which names the cells of the next and the previous time. */
  const cells: CellBlock[] = [];
  let usedCells = 0;
  let firstFreeCell = NONE;
  const firstInRank: number[] = [];
  const lastInRank: number[] = [];

  /** Puts the client's fingerprint into `sought`. One decision often seeks the same client twice. */
  function seek(client: string): void {
    if (client === soughtClient) return;
    soughtClient = client;
    for (let word = 0; word < FINGERPRINT_WORDS; word += 1) sought[word] = (hashes[word] as KeyedHash)(client);
  }

  function isSought(log: number, limit: number): boolean {
    for (let word = 0; word < FINGERPRINT_WORDS; word += 1) {
      if (get(log, FINGERPRINT + word) !== sought[word]) return false;
    }
    return get(log, LIMIT) === limit;
  }

  /** The upper bits of a fingerprint's first word, because they are the most evenly distributed. */
  function bucketOf(word: number): number {
    return word >>> (32 - bucketBits);
  }

  function removeFromBucket(log: number): void {
    const buckets = firstInBucket as Int32Array;
    const bucket = bucketOf(get(log, FINGERPRINT));
    const next = get(log, NEXT_IN_BUCKET);
    let previous = buckets[bucket] as number;
    if (previous === log) {
      buckets[bucket] = next;
      return;
    }
    while (get(previous, NEXT_IN_BUCKET) !== log) previous = get(previous, NEXT_IN_BUCKET);
    set(previous, NEXT_IN_BUCKET, next);
  }

  function timeOf(cell: number): number {
    return (cells[cell >> BLOCK_BITS] as CellBlock).times[cell & IN_BLOCK] as number;
  }

  function nextOf(cell: number): number {
    return (cells[cell >> BLOCK_BITS] as CellBlock).nextCells[cell & IN_BLOCK] as number;
  }

  function linkCell(cell: number, next: number): void {
    (cells[cell >> BLOCK_BITS] as CellBlock).nextCells[cell & IN_BLOCK] = next;
  }

  function takeCell(): number {
    if (firstFreeCell !== NONE) {
      const cell = firstFreeCell;
      firstFreeCell = nextOf(cell);
      return cell;
    }
    usedCells += 1;
    if (usedCells >= cells.length * BLOCK_LENGTH) {
      cells.push({
        times: new Float64Array(BLOCK_LENGTH),
        nextCells: new Int32Array(BLOCK_LENGTH),
        previousCells: new Int32Array(BLOCK_LENGTH),
      });
    }
    return usedCells;
  }

  function releaseCell(cell: number): void {
    linkCell(cell, firstFreeCell);
    firstFreeCell = cell;
  }

  function releaseCells(log: number): void {
    if (get(log, LENGTH) === 0) return;
    linkCell(get(log, LAST_CELL), firstFreeCell);
    firstFreeCell = get(log, FIRST_CELL);
  }

  function leaveRank(log: number): void {
    const rank = get(log, RANK) - 1;
    if (rank < 0) return;
    const previous = get(log, PREVIOUS_IN_RANK);
    const next = get(log, NEXT_IN_RANK);
    if (previous === NONE) firstInRank[rank] = next;
    else set(previous, NEXT_IN_RANK, next);
    if (next === NONE) lastInRank[rank] = previous;
    else set(next, PREVIOUS_IN_RANK, previous);
  }

  return {
    /** The log of a client under a limit, or `NONE`. */
    find(client: string, limit: number): number {
      if (firstInBucket === undefined) return NONE;
      seek(client);
      let log = firstInBucket[bucketOf(sought[0] as number)] as number;
      while (log !== NONE && !isSought(log, limit)) log = get(log, NEXT_IN_BUCKET);
      return log;
    },

    /** Adds an empty log for a client that has none under this limit. */
    add(client: string, limit: number): number {
      seek(client);
      const log = take();
      for (let word = 0; word < FINGERPRINT_WORDS; word += 1) set(log, FINGERPRINT + word, sought[word] as number);
      set(log, LIMIT, limit);
      firstInBucket ??= new Int32Array(2 ** bucketBits);
      const bucket = bucketOf(sought[0] as number);
      set(log, NEXT_IN_BUCKET, firstInBucket[bucket] as number);
      firstInBucket[bucket] = log;
      return log;
    },

    remove(log: number): void {
      releaseCells(log);
      leaveRank(log);
      removeFromBucket(log);
      release(log);
    },

    /** The number of times in the log. */
    length: (log: number) => get(log, LENGTH),
    /** The log must not be empty. */
    oldest: (log: number) => timeOf(get(log, FIRST_CELL)),
    /** The log must not be empty. */
    newest: (log: number) => timeOf(get(log, LAST_CELL)),

    push(log: number, time: number): void {
      const cell = takeCell();
      const last = get(log, LAST_CELL);
      const length = get(log, LENGTH);
      const { times, previousCells } = cells[cell >> BLOCK_BITS] as CellBlock;
      times[cell & IN_BLOCK] = time;
      previousCells[cell & IN_BLOCK] = last;
      if (length === 0) set(log, FIRST_CELL, cell);
      else linkCell(last, cell);
      set(log, LAST_CELL, cell);
      set(log, LENGTH, length + 1);
    },

    /** Drops the oldest time; the log must not be empty. */
    shift(log: number): void {
      const cell = get(log, FIRST_CELL);
      set(log, FIRST_CELL, nextOf(cell));
      set(log, LENGTH, get(log, LENGTH) - 1);
      releaseCell(cell);
    },

    /** Drops the newest time; the log must not be empty. */
    pop(log: number): void {
      const cell = get(log, LAST_CELL);
      set(log, LAST_CELL, (cells[cell >> BLOCK_BITS] as CellBlock).previousCells[cell & IN_BLOCK] as number);
      set(log, LENGTH, get(log, LENGTH) - 1);
      releaseCell(cell);
    },

    /** Moves the log to the end of a rank. */
    place(log: number, rank: number): void {
      leaveRank(log);
      const last = lastInRank[rank] ?? NONE;
      if (last === NONE) firstInRank[rank] = log;
      else set(last, NEXT_IN_RANK, log);
      lastInRank[rank] = log;
      set(log, RANK, rank + 1);
      set(log, PREVIOUS_IN_RANK, last);
      set(log, NEXT_IN_RANK, NONE);
    },

    /** The log that was placed in this rank first, or `NONE`. */
    first: (rank: number) => firstInRank[rank] ?? NONE,

    stats(): { readonly entries: number; readonly bytes: number } {
      const { entries, bytes } = recordStats();
      const bucketBytes = firstInBucket?.byteLength ?? 0;
      return { entries, bytes: bytes + bucketBytes + cells.length * BLOCK_LENGTH * CELL_BYTES };
    },
  };
}

/** The fields of logs by number. A released number is used again. */
function createRecords() {
  const blocks: Int32Array[] = [];
  let used = 0;
  let entries = 0;
  let firstReleased = NONE;

  function get(record: number, field: number): number {
    return (blocks[record >> BLOCK_BITS] as Int32Array)[(record & IN_BLOCK) * FIELD_COUNT + field] as number;
  }

  function set(record: number, field: number, value: number): void {
    (blocks[record >> BLOCK_BITS] as Int32Array)[(record & IN_BLOCK) * FIELD_COUNT + field] = value;
  }

  /** All fields are 0. */
  function take(): number {
    entries += 1;
    if (firstReleased !== NONE) {
      const record = firstReleased;
      firstReleased = get(record, NEXT_RELEASED);
      for (let field = 0; field < FIELD_COUNT; field += 1) set(record, field, 0);
      return record;
    }
    used += 1;
    if (used >= blocks.length * BLOCK_LENGTH) blocks.push(new Int32Array(BLOCK_LENGTH * FIELD_COUNT));
    return used;
  }

  function release(record: number): void {
    entries -= 1;
    set(record, NEXT_RELEASED, firstReleased);
    firstReleased = record;
  }

  return { get, set, take, release, stats: () => ({ entries, bytes: blocks.length * BLOCK_LENGTH * FIELD_COUNT * 4 }) };
}

/** Returns the hash of a text: 32 bits, unsigned. The upper bits are the most evenly distributed. */
export type KeyedHash = (text: string) => number;

const COEFFICIENTS = 256;

/**
 * A hash with random coefficients: an attacker who does not know them cannot choose texts that collide more often than
 * random ones (multilinear hashing; Lemire and Kaser, "Strongly universal string hashing is fast", 2014). Even chosen
 * addresses share a fingerprint of three such hashes with a probability of less than 2⁻⁷⁵.
 */
export function createKeyedHash(coefficients = randomFillSync(new Uint32Array(COEFFICIENTS))): KeyedHash {
  return (text) => {
    const hashed = text.length <= COEFFICIENTS ? text : digest('sha256', text);
    let sum = 0;
    for (let at = 0; at < hashed.length; at += 1) {
      // Plus one: a text and the same text with NUL characters behind it must differ.
      sum = (sum + Math.imul(coefficients[at] as number, hashed.charCodeAt(at) + 1)) | 0;
    }
    return sum >>> 0;
  };
}
