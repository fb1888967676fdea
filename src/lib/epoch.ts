/**
 * The time between two purges. Work remembers the epoch in which it began. If a purge happens meanwhile, the result is sent, but
 * neither cached nor shared.
 */
export interface Epoch {
  /** `{series}:{number}` in the store, which stores no value of another epoch. '' until it is known. */
  readonly id: string;
  readonly hasEnded: boolean;
}

export interface Epochs {
  /** The epoch in which new work begins. */
  current(): Epoch;
  /** Ends the epoch and begins the next, unless this is the ID of the current one. */
  moveTo(id: string): void;
  /** Ends the epoch and begins another with the same ID: another process has purged what only this instance has. */
  end(): void;
  /** Adds a function that is called when an epoch has ended and the next has begun. It empties a cache in memory. */
  onEnd(empty: () => void): void;
}

export function createEpochs(): Epochs {
  let epoch = { id: '', hasEnded: false };
  const listeners: (() => void)[] = [];

  function begin(id: string): void {
    epoch.hasEnded = true;
    epoch = { id, hasEnded: false };
    for (const empty of listeners) empty();
  }

  return {
    current: () => epoch,
    moveTo(id) {
      if (id !== epoch.id) begin(id);
    },
    end: () => begin(epoch.id),
    onEnd: (empty) => void listeners.push(empty),
  };
}
