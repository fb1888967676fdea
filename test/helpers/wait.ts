/**
 * The longest wait for an event of a process, a socket or a thread. Even on a busy machine, only a hang takes this long.
 * It is also the bound of every `expect.poll` (vitest.config.ts).
 */
export const HANG_MS = 60_000;

/** The same bound for `vi.waitFor`. */
export const WAIT = { timeout: HANG_MS, interval: 5 };
