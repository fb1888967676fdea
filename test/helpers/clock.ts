import type { Clock } from '../../src/lib/clock.ts';

export interface ManualClock extends Clock {
  /** Lets time pass on both clocks. */
  advance(ms: number): void;
  /** Sets the wall clock forward or back and leaves the monotonic one alone. */
  jumpWallClock(ms: number): void;
}

/** A clock that stands still until a test moves it. */
export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let wallMs = startMs;
  let monotonicMs = 1_000;
  return {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    advance(ms) {
      wallMs += ms;
      monotonicMs += ms;
    },
    jumpWallClock(ms) {
      wallMs += ms;
    },
  };
}

/** The real time, which a test can move as well: for measuring what clients wait. */
export function createRunningClock(): ManualClock {
  let movedMs = 0;
  let jumpedMs = 0;
  return {
    now: () => Date.now() + movedMs + jumpedMs,
    monotonic: () => performance.now() + movedMs,
    advance(ms) {
      movedMs += ms;
    },
    jumpWallClock(ms) {
      jumpedMs += ms;
    },
  };
}
