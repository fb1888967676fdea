/** How much a cache, a map or a queue holds now, and how much it may hold. What does not apply is left out. */
export interface HolderStats {
  readonly entries?: number;
  readonly maxEntries?: number;
  /** Everything that it keeps: keys, values and what each entry costs beside them. */
  readonly bytes?: number;
  readonly maxBytes?: number;
}

export interface HolderReading extends HolderStats {
  readonly name: string;
}

/** Every cache, map and queue that grows with what clients ask for: the one source of metrics and console. */
export interface Holders {
  /** @throws Error when the name is taken */
  add(name: string, stats: () => HolderStats): void;
  /** In the order in which they were added. */
  read(): readonly HolderReading[];
}

export function createHolders(): Holders {
  const readers = new Map<string, () => HolderStats>();
  return {
    add(name, stats) {
      if (readers.has(name)) throw new Error(`There is a holder "${name}" already.`);
      readers.set(name, stats);
    },
    read: () =>
      [...readers].map(([name, stats]) => {
        const { entries, maxEntries, bytes, maxBytes } = stats();
        return {
          name,
          ...(entries !== undefined && { entries }),
          ...(maxEntries !== undefined && { maxEntries }),
          ...(bytes !== undefined && { bytes }),
          ...(maxBytes !== undefined && { maxBytes }),
        };
      }),
  };
}
