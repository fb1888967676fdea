import { createKeyedHash } from '../lib/keyed-hash.ts';
import { FIELD, NONE, type Records } from './records.ts';

/** Finds the record of a client. Stores no text: clients are identified by fingerprints of 96 bits. */
export interface ClientIndex {
  /** The client's record under a limit, or `NONE`. */
  find(client: string, limit: number): number;
  /** Adds a record for a client that has none under this limit. */
  add(client: string, limit: number): number;
  /** Removes and releases the record. */
  remove(record: number): void;
  stats(): { readonly bytes: number };
}

const WORDS = 3;
const BLOCK_BITS = 14;
const BUCKETS_PER_BLOCK = 1 << BLOCK_BITS;
const BUCKET_MASK = BUCKETS_PER_BLOCK - 1;

/**
 * A hash table that grows by one bucket with each client (linear hashing; Litwin, "Linear hashing: a new tool for file
 * and table addressing", 1980), because doubling a table would block the event loop. The hashes are keyed, so that even
 * chosen addresses share a fingerprint with a probability of less than 2⁻⁷⁵.
 */
export function createClientIndex(records: Records): ClientIndex {
  const hashes = Array.from({ length: WORDS }, () => createKeyedHash());
  const sought = new Int32Array(WORDS);
  const blocks: Int32Array[] = [];
  /** The number of buckets before the current round (a power of two), and how many of them are split. */
  let half = 1;
  let split = 0;
  setFirst(0, NONE);

  function first(bucket: number): number {
    return (blocks[bucket >> BLOCK_BITS] as Int32Array)[bucket & BUCKET_MASK] as number;
  }

  function setFirst(bucket: number, record: number): void {
    if (bucket === blocks.length * BUCKETS_PER_BLOCK) blocks.push(new Int32Array(BUCKETS_PER_BLOCK));
    (blocks[bucket >> BLOCK_BITS] as Int32Array)[bucket & BUCKET_MASK] = record;
  }

  function bucketOf(word: number): number {
    const mixed = mix(word);
    const bucket = mixed & (2 * half - 1);
    return bucket < half + split ? bucket : mixed & (half - 1);
  }

  function prepend(bucket: number, record: number): void {
    records.set(record, FIELD.nextInBucket, first(bucket));
    setFirst(bucket, record);
  }

  function splitNext(): void {
    let record = first(split);
    setFirst(split, NONE);
    setFirst(half + split, NONE);
    split += 1;
    while (record !== NONE) {
      const next = records.get(record, FIELD.nextInBucket);
      prepend(bucketOf(records.get(record, FIELD.fingerprint)), record);
      record = next;
    }
    if (split < half) return;
    half *= 2;
    split = 0;
  }

  function seek(client: string): void {
    for (let word = 0; word < WORDS; word += 1) sought[word] = (hashes[word] as (text: string) => number)(client);
  }

  function isSought(record: number, limit: number): boolean {
    for (let word = 0; word < WORDS; word += 1) {
      if (records.get(record, FIELD.fingerprint + word) !== sought[word]) return false;
    }
    return records.get(record, FIELD.limit) === limit;
  }

  return {
    find(client, limit) {
      seek(client);
      let record = first(bucketOf(sought[0] as number));
      while (record !== NONE && !isSought(record, limit)) record = records.get(record, FIELD.nextInBucket);
      return record;
    },

    add(client, limit) {
      seek(client);
      const record = records.take();
      for (let word = 0; word < WORDS; word += 1) records.set(record, FIELD.fingerprint + word, sought[word] as number);
      records.set(record, FIELD.limit, limit);
      prepend(bucketOf(sought[0] as number), record);
      if (records.stats().entries > half + split) splitNext();
      return record;
    },

    remove(record) {
      const bucket = bucketOf(records.get(record, FIELD.fingerprint));
      const next = records.get(record, FIELD.nextInBucket);
      let previous = first(bucket);
      if (previous === record) {
        setFirst(bucket, next);
      } else {
        while (records.get(previous, FIELD.nextInBucket) !== record) {
          previous = records.get(previous, FIELD.nextInBucket);
        }
        records.set(previous, FIELD.nextInBucket, next);
      }
      records.release(record);
    },

    stats: () => ({ bytes: blocks.length * BUCKETS_PER_BLOCK * 4 }),
  };
}

/** Mixes the upper bits of a word into all bits (the finalizer of MurmurHash3). */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
