import { EventEmitter, once } from 'node:events';
import { type Clock, systemClock } from '../../src/lib/clock.ts';

export interface ManualClock extends Clock {
  /** Moves both clocks. Timers that are due fire in order, each at its own time. */
  advance(ms: number): void;
  /** Moves only the wall clock, forward or back. */
  jumpWallClock(ms: number): void;
  /** Waits until a timer of this many milliseconds exists, and moves the clock by that time. Rejects when the signal aborts. */
  passTimer(ms: number, signal?: AbortSignal): Promise<void>;
}

interface Timer {
  readonly ms: number;
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock with timers that moves only when a test moves it. */
export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let wallMs = startMs;
  let monotonicMs = 1_000;
  const timers = new Set<Timer>();
  const changes = new EventEmitter().setMaxListeners(0);

  function pass(ms: number): void {
    wallMs += ms;
    monotonicMs += ms;
  }

  function advance(ms: number): void {
    const endMs = monotonicMs + ms;
    for (;;) {
      const [next] = [...timers].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs);
      if (next === undefined) break;
      timers.delete(next);
      pass(Math.max(0, next.dueMs - monotonicMs));
      next.callback();
    }
    pass(endMs - monotonicMs);
  }

  return {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    after(ms, callback) {
      const timer = { ms, dueMs: monotonicMs + ms, callback };
      timers.add(timer);
      changes.emit('added');
      return () => void timers.delete(timer);
    },
    advance,
    async passTimer(ms, signal) {
      while (![...timers].some((timer) => timer.ms === ms)) await once(changes, 'added', { signal });
      signal?.throwIfAborted();
      advance(ms);
    },
    jumpWallClock(ms) {
      wallMs += ms;
    },
  };
}

/** A busy machine may take so many times as long as the limits of a service say. */
const BUSY = 10;

/** The real time, which a test can move forward. Its timers take longer, so that nothing exceeds a limit on a busy machine. */
export function createRunningClock(): ManualClock {
  const moved = createManualClock(0);
  return {
    ...moved,
    now: () => Date.now() + moved.now(),
    monotonic: () => performance.now() + moved.monotonic(),
    after: (ms, callback) => systemClock.after(BUSY * ms, callback),
  };
}
