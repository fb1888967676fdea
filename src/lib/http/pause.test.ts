import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import type { PauseState } from '../../domain/source-status.ts';
import { LocalLimitError } from './call-budget.ts';
import { createPause, type Pause, PausedError } from './pause.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

let clock: ManualClock;
let pause: Pause;
let changes: (PauseState | undefined)[];
let calls: number;
let keys: number;

beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 23, 14, 9));
  changes = [];
  pause = createPause({ clock, label: 'YouTube', onChange: (state) => changes.push(state) });
  calls = 0;
  keys = 0;
});

/** A key that no earlier call had. */
function nextKey(): string {
  keys += 1;
  return `key ${keys}`;
}

function succeed(key = nextKey()): Promise<string> {
  const work = async () => {
    calls += 1;
    return 'found';
  };
  return pause.run(key, work, never);
}

function fail(reason: ErrorCode | Error = 'upstream_timeout', key = nextKey(), signal = never): Promise<unknown> {
  const error = reason instanceof Error ? reason : new AppError(reason, 'It failed.');
  const work = async () => {
    calls += 1;
    throw error;
  };
  return pause.run(key, work, signal).catch((thrown: unknown) => thrown);
}

const keyFailure = () => new AppError('upstream_unavailable', 'This channel is not shown.', { scope: 'key' });
const refuse = () => pause.run(nextKey(), async () => void pause.refuse('status 429'), never).catch(() => undefined);

async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < times; done += 1) await call();
}

const reason = () => pause.state()?.reason;

describe('a source', () => {
  it('is asked, and its values and errors are passed on unchanged', async () => {
    const error = new AppError('upstream_unavailable', 'Not usable.');
    expect(await succeed()).toBe('found');
    expect(await fail(error)).toBe(error);
    expect(pause.state()).toBeUndefined();
  });

  it('is paused for ten seconds when its last five calls failed, however slowly they came', async () => {
    await succeed();
    for (let call = 0; call < 5; call += 1) {
      expect(pause.state()).toBeUndefined();
      await fail();
      clock.advance(call === 4 ? 4_000 : 3_600_000);
    }
    expect(pause.state()).toMatchObject({ reason: 'failing', untilMs: clock.now() + 6_000 });
    expect(await fail()).toMatchObject({ name: 'PausedError', code: 'upstream_unavailable', retryAfterMs: 6_000 });
    expect(calls).toBe(6);
  });

  it('is asked as long as a call in five succeeds', async () => {
    await repeat(10, async () => {
      await repeat(4, fail);
      await fail('channel_not_found');
    });
    expect(pause.state()).toBeUndefined();
  });

  it('is asked however often calls for one key fail', async () => {
    await repeat(20, () => fail('upstream_timeout', 'same'));
    expect([calls, reason()]).toEqual([20, undefined]);
  });

  it.each([
    ['a local limit', new LocalLimitError('Spent.', 100), never],
    ['a bug', new TypeError('undefined is not a function'), never],
    ['an abandoned call', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
  ])('is not judged by %s', async (_name, error, signal) => {
    await repeat(20, () => fail(error, nextKey(), signal));
    expect(pause.state()).toBeUndefined();
  });
});

describe('a pause after failures', () => {
  beforeEach(async () => {
    await repeat(5, fail);
    calls = 0;
  });

  it('ends with one call that succeeds, and others wait for its result', async () => {
    clock.advance(10_000);
    const response = Promise.withResolvers<string>();
    const trial = pause.run('trial', () => response.promise, never);
    expect(await fail()).toMatchObject({ name: 'PausedError', retryAfterMs: 1_000 });
    response.resolve('found');
    expect(await trial).toBe('found');
    expect(pause.state()).toBeUndefined();
  });

  it('ends with "no such channel"', async () => {
    clock.advance(10_000);
    await fail('channel_not_found');
    expect(pause.state()).toBeUndefined();
  });

  it('doubles with each trial that fails, up to five minutes', async () => {
    const lengths: number[] = [];
    for (let trial = 0; trial < 7; trial += 1) {
      clock.advance((pause.state()?.untilMs ?? 0) - clock.now());
      await fail();
      lengths.push(((pause.state()?.untilMs ?? 0) - clock.now()) / 1_000);
    }
    expect(lengths).toEqual([20, 40, 80, 160, 300, 300, 300]);
    expect(calls).toBe(7);
  });

  it.each([
    ['an abandoned trial', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
    ['a trial that a local limit prevented', new LocalLimitError('Spent.', 100), never],
  ])('is not prolonged by %s', async (_name, error, signal) => {
    clock.advance(10_000);
    await fail(error, nextKey(), signal);
    expect(reason()).toBe('failing');
    await succeed();
    expect(pause.state()).toBeUndefined();
  });

  it('is prolonged by trials that failed for their own keys when these are five', async () => {
    clock.advance(10_000);
    await repeat(4, () => fail(keyFailure()));
    expect(pause.state()?.untilMs).toBe(clock.now());
    await fail(keyFailure());
    expect(pause.state()?.untilMs).toBe(clock.now() + 20_000);
  });

  it('is not affected by jumps of the wall clock', async () => {
    clock.jumpWallClock(3_600_000);
    expect(await fail()).toBeInstanceOf(PausedError);
    clock.jumpWallClock(-7_200_000);
    clock.advance(10_000);
    expect(await succeed()).toBe('found');
  });

  it('ends when its failures are forgotten', async () => {
    pause.forgetFailures();
    expect(pause.state()).toBeUndefined();
    await repeat(4, fail);
    expect(pause.state()).toBeUndefined();
  });
});

describe('a source that refuses this address', () => {
  it('is paused at once, for a minute, doubled to an hour', async () => {
    const lengths: number[] = [];
    for (let trial = 0; trial < 8; trial += 1) {
      await refuse();
      lengths.push(((pause.state()?.untilMs ?? 0) - clock.now()) / MINUTE_MS);
      clock.advance((pause.state()?.untilMs ?? 0) - clock.now());
    }
    expect(lengths).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    await succeed();
    expect(pause.state()).toBeUndefined();
    await refuse();
    expect(pause.state()?.untilMs).toBe(clock.now() + MINUTE_MS);
  });

  it('is not paused for longer by refused calls that were under way', async () => {
    const gate = Promise.withResolvers<void>();
    const work = async () => {
      await gate.promise;
      pause.refuse('status 429');
    };
    const running = Array.from({ length: 10 }, (_, index) => pause.run(`key ${index}`, work, never));
    gate.resolve();
    await Promise.all(running);
    expect(pause.state()?.untilMs).toBe(clock.now() + MINUTE_MS);
  });

  it('is paused for the time that it names if that is longer', () => {
    expect(pause.refuse('status 429', 1_000)).toBe(MINUTE_MS);
    clock.advance(MINUTE_MS);
    expect(pause.refuse('status 429', 600_000)).toBe(600_000);
  });

  it('stays paused, although the trial failed in another way', async () => {
    await refuse();
    clock.advance(MINUTE_MS);
    await fail();
    expect(pause.state()).toMatchObject({ reason: 'refused', untilMs: clock.now() + 2 * MINUTE_MS });
  });

  it('gets no calls that no work encloses', async () => {
    const http = pause.guard({ request: async () => Promise.reject(new Error('sent')), close: async () => undefined });
    const request = { method: 'GET', url: 'https://a.test/', timeoutMs: 1, maxBytes: 1, signal: never } as const;
    await refuse();
    await expect(http.request(request)).rejects.toBeInstanceOf(PausedError);
    clock.advance(MINUTE_MS);
    await expect(http.request(request)).rejects.toThrow('sent');
  });

  it('says so in the same words everywhere, once when it begins and once when it ends', async () => {
    await refuse();
    const description =
      'YouTube refuses this address since 2026-11-23 14:09:00 UTC (status 429); next call at 2026-11-23 14:10:00 UTC';
    expect(pause.state()?.description).toBe(description);
    clock.advance(MINUTE_MS);
    await refuse();
    expect(pause.state()?.description).toContain('since 2026-11-23 14:09:00 UTC');
    clock.advance(2 * MINUTE_MS);
    await succeed();
    expect(changes).toEqual([expect.objectContaining({ description }), undefined]);
  });
});

describe('a source whose daily quota is spent', () => {
  it('is asked again when the quota is renewed, without a trial', async () => {
    expect(pause.spend(3_600_000)).toMatchObject({ reason: 'quota', retryAfterMs: 3_600_000 });
    expect(() => pause.check()).toThrow(/quota/);
    expect(await fail()).toMatchObject({ reason: 'quota', retryAfterMs: 3_600_000 });
    clock.advance(3_600_000);
    expect(pause.state()).toBeUndefined();
    expect(await Promise.all([succeed(), succeed()])).toEqual(['found', 'found']);
  });
});

describe('a key that fails', () => {
  it('gets its failure again for 15 s, and counts once', async () => {
    expect(await fail(keyFailure(), 'refused')).toMatchObject({ retryAfterMs: 15_000 });
    clock.advance(14_000);
    expect(await succeed('refused').catch((error: unknown) => error)).toMatchObject({
      code: 'upstream_unavailable',
      message: 'This channel is not shown.',
      retryAfterMs: 1_000,
    });
    expect(await succeed('another')).toBe('found');
    clock.advance(1_000);
    expect(await succeed('refused')).toBe('found');
  });

  it('does not pause the source, but five such keys do', async () => {
    await repeat(100, () => fail('upstream_invalid', 'unreadable'));
    expect([calls, reason()]).toEqual([1, undefined]);
    await repeat(4, () => fail('upstream_invalid'));
    expect(reason()).toBe('failing');
  });

  it('is remembered within a bound', async () => {
    await repeat(200, async () => {
      await fail(keyFailure(), `${nextKey()} ${'x'.repeat(10_000)}`);
      await succeed();
    });
    const { entries, bytes, maxBytes = 0 } = pause.stats();
    expect(entries).toBeGreaterThan(0);
    expect(entries).toBeLessThan(60);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  });
});

describe('a pause that its owner begins', () => {
  it('is doubled by a failure after it, not by one during it, and ends with a success', () => {
    pause.fail('status 400');
    clock.advance(9_000);
    pause.fail('status 400');
    expect(pause.isPaused()).toBe(true);
    expect(() => pause.check()).toThrow(PausedError);
    clock.advance(1_000);
    expect([pause.isPaused(), reason()]).toEqual([false, 'failing']);
    pause.fail('status 400');
    clock.advance(19_999);
    expect(pause.isPaused()).toBe(true);
    clock.advance(1);
    expect(pause.isPaused()).toBe(false);
    pause.succeed();
    expect(reason()).toBeUndefined();
    expect(changes.map((state) => state?.reason)).toEqual(['failing', undefined]);
  });
});
