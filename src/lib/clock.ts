/** The times and timers of a service. Tests replace them. */
export interface Clock {
  /** Wall clock, milliseconds since 1970: for values that outlive the process. It may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start: for durations within the process. It never jumps. */
  monotonic(): number;
  /** Calls back once after this many milliseconds of monotonic time. The result cancels it. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    let immediate: NodeJS.Immediate | undefined;
    // What has arrived is read first: after a standstill of the process, such as `docker pause`, nobody else was late.
    const timer = setTimeout(() => {
      immediate = setImmediate(callback);
    }, ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};
