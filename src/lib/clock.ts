/** The two times a service needs; tests move both by hand. */
export interface Clock {
  /** Wall clock, milliseconds since 1970: for what outlives the process. It may jump. */
  now(): number;
  /** Milliseconds since some start: for spans within the process. It never jumps. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
