/**
 * The time between two purges. Work remembers the epoch in which it began. If a purge happens meanwhile, the result is sent, but
 * neither cached nor shared.
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
  /** Ends the epoch and begins another with the same number: another process has purged what only this instance has. */
  end(): void;
  /** Adds a function that is called when an epoch has ended and the next has begun. It empties a cache in memory. */
  onEnd(empty: () => void): void;
}

export function createEpochs(): Epochs {
  let epoch = { number: '', hasEnded: false };
  const listeners: (() => void)[] = [];

  function begin(number: string): void {
    epoch.hasEnded = true;
    epoch = { number, hasEnded: false };
    for (const empty of listeners) empty();
  }

  return {
    current: () => epoch,
    moveTo(number) {
      if (number !== epoch.number) begin(number);
    },
    end: () => begin(epoch.number),
    onEnd: (empty) => void listeners.push(empty),
  };
}
