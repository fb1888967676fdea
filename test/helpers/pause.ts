import { AppError, type ErrorCode } from '../../src/domain/errors.ts';
import { createPause, type PauseState } from '../../src/lib/http/pause.ts';
import { createManualClock } from './clock.ts';

const NEVER = new AbortController().signal;

/** A pause with its own clock, and calls that end as the test says. Each has another key unless the test names one. */
export function startPause() {
  const clock = createManualClock(Date.UTC(2026, 10, 23, 14, 9));
  const changes: (PauseState | undefined)[] = [];
  const pause = createPause({ clock, label: 'YouTube', onChange: (state) => changes.push(state) });
  let keys = 0;

  function nextKey(): string {
    keys += 1;
    return `key ${keys}`;
  }

  const started = {
    clock,
    pause,
    /** What the pause has reported, in order. */
    changes: changes as readonly (PauseState | undefined)[],
    /** The calls that were made. */
    calls: 0,
    nextKey,
    async succeed(key = nextKey()): Promise<string> {
      const work = async () => {
        started.calls += 1;
        return 'found';
      };
      return pause.run(key, work, NEVER);
    },
    /** @returns the error of the call */
    async fail(reason: ErrorCode | Error = 'upstream_timeout', key = nextKey(), signal = NEVER): Promise<unknown> {
      const error = reason instanceof Error ? reason : new AppError(reason, 'It failed.');
      const work = async () => {
        started.calls += 1;
        throw error;
      };
      return pause.run(key, work, signal).catch((thrown: unknown) => thrown);
    },
    refuse: () =>
      pause.run(nextKey(), async () => Promise.reject(pause.refuse('status 429')), NEVER).catch(() => undefined),
    reason: () => pause.state()?.reason,
    /** Lets the time of the pause pass, so that the next call is the trial. */
    waitForTrial: () => clock.advance((pause.state()?.untilMs ?? 0) - clock.now()),
  };
  return started;
}

export async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < times; done += 1) await call();
}
