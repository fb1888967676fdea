/** A task that only one instance of a fleet should do at a time. */
export interface Lease {
  /**
   * @returns true where this instance may do the task now; nobody else may for `ttlMs`. Where the fleet cannot be asked
   * every instance may: each then works alone.
   */
  tryAcquire(task: string, ttlMs: number): Promise<boolean>;
}

/** For an instance that shares nothing. */
export const SOLO_LEASE: Lease = { tryAcquire: async () => true };
