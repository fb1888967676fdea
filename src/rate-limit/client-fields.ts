/** What the limiter keeps of a client under one limit: the fields of its record. Each has one part that writes it. */
export const FIELD = {
  /** Written by the index: three words of fingerprint, the limit's number, and the chain of its bucket. */
  fingerprint: 0,
  limit: 3,
  nextInBucket: 4,
  /** Written by the queues of times. */
  times: 5,
  firstTime: 6,
  lastTime: 7,
  /** Written by the ranks. */
  rank: 8,
  previous: 9,
  next: 10,
} as const;

export const FIELD_COUNT = 11;
