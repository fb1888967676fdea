/**
 * How long a test waits for an event of a process, a socket or a thread: only a hang takes so long, however busy the
 * machine is. It is the bound of every `expect.poll` (vitest.config.ts).
 */
export const HANG_MS = 60_000;

/** The same bound for `vi.waitFor`. */
export const WAIT = { timeout: HANG_MS };
