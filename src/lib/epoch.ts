/**
 * A period in which no stored data becomes old. Work remembers the epoch in which it begins. When that has ended, its result
 * is still sent, but no longer kept or shared.
 */
export interface Epoch {
  readonly hasEnded: boolean;
}

/** `change`: some records are old. `purge`: images may be old, too. */
export type EpochEnd = 'change' | 'purge';

export interface Epochs {
  /** The epoch in which new work begins. */
  current(): Epoch;
  /** Ends the epoch and begins the next. */
  next(end: EpochEnd): void;
  /** Adds a function that `next` calls, to empty what is kept in memory. */
  onNext(empty: (end: EpochEnd) => void): void;
}

export function createEpochs(): Epochs {
  let epoch = { hasEnded: false };
  const listeners: ((end: EpochEnd) => void)[] = [];
  return {
    current: () => epoch,
    next(end) {
      epoch.hasEnded = true;
      epoch = { hasEnded: false };
      for (const empty of listeners) empty(end);
    },
    onNext: (empty) => void listeners.push(empty),
  };
}
