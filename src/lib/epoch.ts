/**
 * The time between two purges. Work remembers the epoch in which it begins. When that has ended, its result is still sent, but
 * neither kept nor shared.
 */
export interface Epoch {
  /** The number of the epoch in the store, which refuses to store a value with another one. '' until it is known. */
  readonly number: string;
  readonly hasEnded: boolean;
}

export interface Epochs {
  /** The epoch in which new work begins. */
  current(): Epoch;
  /** Ends the epoch and begins the next, unless this is the number of the current one. */
  moveTo(number: string): void;
  /** Adds a function that empties what memory keeps when an epoch ends. */
  onEnd(empty: () => void): void;
}

export function createEpochs(): Epochs {
  let epoch = { number: '', hasEnded: false };
  const listeners: (() => void)[] = [];
  return {
    current: () => epoch,
    moveTo(number) {
      if (number === epoch.number) return;
      epoch.hasEnded = true;
      epoch = { number, hasEnded: false };
      for (const empty of listeners) empty();
    },
    onEnd: (empty) => void listeners.push(empty),
  };
}
