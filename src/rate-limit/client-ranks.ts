import { FIELD } from './client-fields.ts';
import { NONE, type Records } from './records.ts';

/** Clients' records in lists by rank, in each in the order in which they came there. Every change takes constant time. */
export interface ClientRanks {
  /** Puts the record at the end of a rank, taking it out of the one where it was. */
  place(record: number, rank: number): void;
  remove(record: number): void;
  /** The record that has been in this rank for longest, or `NONE`. */
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
