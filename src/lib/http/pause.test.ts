import { beforeEach, describe, expect, it } from 'vitest';
import { repeat, startPause } from '../../../test/helpers/pause.ts';
import { AppError } from '../../domain/errors.ts';
import { LocalLimitError } from './call-budget.ts';
import { PausedError } from './pause.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

let started: ReturnType<typeof startPause>;
beforeEach(() => {
  started = startPause();
});

const keyFailure = () => new AppError('upstream_unavailable', 'This channel is not shown.', { scope: 'key' });
const answer = () => new AppError('upstream_unavailable', 'Not available in your country.', { scope: 'answer' });

describe('a source', () => {
  it('is ready, and its values and errors are passed on unchanged', async () => {
    const error = new AppError('upstream_unavailable', 'Not usable.');
    expect(await started.succeed()).toBe('found');
    expect(await started.fail(error)).toBe(error);
    expect(started.pause.state()).toBeUndefined();
  });

  it('is paused for ten seconds when its last five calls failed, however slowly they came', async () => {
    await started.succeed();
    for (let call = 0; call < 5; call += 1) {
      expect(started.pause.state()).toBeUndefined();
      await started.fail();
      started.clock.advance(call === 4 ? 4_000 : 3_600_000);
    }
    expect(started.pause.state()).toMatchObject({ reason: 'failing', untilMs: started.clock.now() + 6_000 });
    expect(await started.fail()).toMatchObject({
      name: 'PausedError',
      code: 'upstream_unavailable',
      retryAfterMs: 6_000,
    });
    expect(started.calls).toBe(6);
  });

  it.each([
    ['"no such channel"', 'channel_not_found'],
    ['a readable response about its key', answer()],
  ] as const)('is ready as long as every fifth call gets %s', async (_what, success) => {
    await repeat(10, async () => {
      await repeat(4, () => started.fail());
      await started.fail(success);
    });
    expect(started.pause.state()).toBeUndefined();
  });

  it('is ready however often calls for one key fail', async () => {
    await repeat(20, () => started.fail('upstream_timeout', 'same'));
    expect([started.calls, started.reason()]).toEqual([20, undefined]);
  });

  it.each([
    ['a local limit', new LocalLimitError('Spent.', 100), never],
    ['a refusal for which another pause has begun', startPause().pause.refuse('status 429'), never],
    ['a bug', new TypeError('undefined is not a function'), never],
    ['an abandoned call', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
  ])('is not judged by %s', async (_name, error, signal) => {
    await repeat(20, () => started.fail(error, started.nextKey(), signal));
    expect(started.pause.state()).toBeUndefined();
  });
});

describe('a pause after failures', () => {
  beforeEach(async () => {
    await repeat(5, () => started.fail());
    started.calls = 0;
  });

  it('ends with one call that succeeds, and others wait for its result', async () => {
    started.clock.advance(10_000);
    const response = Promise.withResolvers<string>();
    const trial = started.pause.run('trial', () => response.promise, never);
    expect(await started.fail()).toMatchObject({ name: 'PausedError', retryAfterMs: 1_000 });
    expect(started.reason()).toBe('failing');
    response.resolve('found');
    expect(await trial).toBe('found');
    expect(started.pause.state()).toBeUndefined();
  });

  it.each([
    ['"no such channel"', 'channel_not_found'],
    ['a readable response about the key of the trial', answer()],
  ] as const)('ends with %s', async (_what, success) => {
    started.clock.advance(10_000);
    await started.fail(success);
    expect(started.pause.state()).toBeUndefined();
  });

  it('doubles with each trial that fails, up to five minutes', async () => {
    const lengths: number[] = [];
    for (let trial = 0; trial < 7; trial += 1) {
      started.waitForTrial();
      await started.fail();
      lengths.push(((started.pause.state()?.untilMs ?? 0) - started.clock.now()) / 1_000);
    }
    expect(lengths).toEqual([20, 40, 80, 160, 300, 300, 300]);
    expect(started.calls).toBe(7);
  });

  it.each([
    ['an abandoned trial', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
    ['a trial that a local limit prevented', new LocalLimitError('Spent.', 100), never],
    ['a refusal for which another pause has begun', startPause().pause.refuse('status 429'), never],
  ])('is not prolonged by %s', async (_name, error, signal) => {
    started.clock.advance(10_000);
    await started.fail(error, started.nextKey(), signal);
    expect(started.reason()).toBe('failing');
    await started.succeed();
    expect(started.pause.state()).toBeUndefined();
  });

  it('is prolonged by trials that failed for their own keys when these are five', async () => {
    started.clock.advance(10_000);
    await repeat(4, () => started.fail(keyFailure()));
    expect(started.pause.state()?.untilMs).toBe(started.clock.now());
    await started.fail(keyFailure());
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + 20_000);
  });

  it('is not affected by jumps of the wall clock', async () => {
    started.clock.jumpWallClock(3_600_000);
    expect(await started.fail()).toBeInstanceOf(PausedError);
    started.clock.jumpWallClock(-7_200_000);
    started.clock.advance(10_000);
    expect(await started.succeed()).toBe('found');
  });
});

describe('a source that refuses this address', () => {
  it('is paused at once, for a minute, doubled to an hour', async () => {
    const lengths: number[] = [];
    for (let trial = 0; trial < 8; trial += 1) {
      await started.refuse();
      lengths.push(((started.pause.state()?.untilMs ?? 0) - started.clock.now()) / MINUTE_MS);
      started.waitForTrial();
    }
    expect(lengths).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    await started.succeed();
    expect(started.pause.state()).toBeUndefined();
    await started.refuse();
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + MINUTE_MS);
  });

  it('is not paused for longer by refused calls that were under way', async () => {
    const gate = Promise.withResolvers<void>();
    const work = async () => {
      await gate.promise;
      throw started.pause.refuse('status 429');
    };
    const running = Array.from({ length: 10 }, (_, index) => started.pause.run(`key ${index}`, work, never));
    gate.resolve();
    await Promise.allSettled(running);
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + MINUTE_MS);
  });

  it('is paused for the time that it names if that is longer', () => {
    expect(started.pause.refuse('status 429', 1_000).retryAfterMs).toBe(MINUTE_MS);
    started.clock.advance(MINUTE_MS);
    expect(started.pause.refuse('status 429', 600_000).retryAfterMs).toBe(600_000);
  });

  it('stays paused, although the trial failed in another way', async () => {
    await started.refuse();
    started.clock.advance(MINUTE_MS);
    await started.fail();
    expect(started.pause.state()).toMatchObject({ reason: 'refused', untilMs: started.clock.now() + 2 * MINUTE_MS });
  });

  it('refuses calls that no work encloses, until the trial', async () => {
    await started.refuse();
    expect(() => started.pause.check()).toThrow(PausedError);
    started.clock.advance(MINUTE_MS);
    expect(() => started.pause.check()).not.toThrow();
  });

  it('says so in the same words everywhere, once when it begins and once when it ends', async () => {
    await started.refuse();
    const description =
      'YouTube refuses this address since 2026-11-23 14:09:00 UTC (status 429); next call at 2026-11-23 14:10:00 UTC';
    expect(started.pause.state()?.description).toBe(description);
    started.clock.advance(MINUTE_MS);
    await started.refuse();
    expect(started.pause.state()?.description).toContain('since 2026-11-23 14:09:00 UTC');
    started.clock.advance(2 * MINUTE_MS);
    await started.succeed();
    expect(started.changes).toEqual([expect.objectContaining({ description }), undefined]);
  });
});

describe('a source on hold', () => {
  const why = { reason: 'quota', operator: 'has no quota left', client: () => 'The quota is spent.' };

  it('is ready again at the time that its caller knows, without a trial', async () => {
    expect(started.pause.hold(why, 3_600_000)).toMatchObject({ reason: 'quota', retryAfterMs: 3_600_000 });
    expect(() => started.pause.check()).toThrow('The quota is spent.');
    expect(started.pause.state()?.description).toMatch(/^YouTube has no quota left since /);
    expect(await started.fail()).toMatchObject({ reason: 'quota', retryAfterMs: 3_600_000 });
    started.clock.advance(3_600_000);
    expect(started.pause.state()).toBeUndefined();
    expect(await Promise.all([started.succeed(), started.succeed()])).toEqual(['found', 'found']);
  });
});

describe('a key that fails', () => {
  it('gets its failure again for 15 s, and counts once', async () => {
    expect(await started.fail(keyFailure(), 'refused')).toMatchObject({ retryAfterMs: 15_000 });
    started.clock.advance(14_000);
    expect(await started.succeed('refused').catch((error: unknown) => error)).toMatchObject({
      code: 'upstream_unavailable',
      message: 'This channel is not shown.',
      retryAfterMs: 1_000,
    });
    expect(await started.succeed('another')).toBe('found');
    started.clock.advance(1_000);
    expect(await started.succeed('refused')).toBe('found');
  });

  it('does not pause the source, but five such keys do', async () => {
    await repeat(100, () => started.fail('upstream_invalid', 'unreadable'));
    expect([started.calls, started.reason()]).toEqual([1, undefined]);
    await repeat(4, () => started.fail('upstream_invalid'));
    expect(started.reason()).toBe('failing');
  });

  it('is remembered within a bound', async () => {
    await repeat(200, async () => {
      await started.fail(keyFailure(), `${started.nextKey()} ${'x'.repeat(10_000)}`);
      await started.succeed();
    });
    const { entries, bytes, maxBytes = 0 } = started.pause.stats();
    expect(entries).toBeGreaterThan(0);
    expect(entries).toBeLessThan(60);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  });
});
