import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import { LocalLimitError } from './call-budget.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';

let clock: ManualClock;
let breaker: CircuitBreaker;
let calls: number;
let keys: number;

beforeEach(() => {
  clock = createManualClock();
  breaker = createCircuitBreaker({ clock });
  calls = 0;
  keys = 0;
});

const never = new AbortController().signal;

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
  return breaker.execute(key, work, never);
}

function fail(reason: ErrorCode | Error = 'upstream_timeout', signal = never, key = nextKey()): Promise<unknown> {
  const error = reason instanceof Error ? reason : new AppError(reason, 'It failed.');
  const work = async () => {
    calls += 1;
    throw error;
  };
  return breaker.execute(key, work, signal).catch((thrown: unknown) => thrown);
}

/** Fails with an error that concerns only the key. */
function failFor(key: string): Promise<unknown> {
  return fail(new AppError('upstream_unavailable', 'This channel is not shown.', { scope: 'key' }), never, key);
}

async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < times; done += 1) await call();
}

async function openBreaker(): Promise<void> {
  await repeat(20, () => fail());
  expect(breaker.state()).toBe('open');
  calls = 0;
}

describe('a circuit breaker', () => {
  it('passes values and errors on unchanged', async () => {
    const error = new AppError('upstream_unavailable', 'Not usable.');
    expect(await succeed()).toBe('found');
    expect(await fail(error)).toBe(error);
  });

  it('opens when half of twenty calls fail', async () => {
    await repeat(10, () => succeed());
    await repeat(9, () => fail());
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
    expect(breaker.stats().opened).toBe(1);
  });

  it('stays closed when less than half fail', async () => {
    await repeat(11, () => succeed());
    await repeat(10, () => fail());
    expect(breaker.state()).toBe('closed');
  });

  it('stays closed for fewer than twenty calls', async () => {
    await repeat(19, () => fail());
    expect(breaker.state()).toBe('closed');
  });

  it('counts calls of the last ten seconds only', async () => {
    await repeat(19, () => fail());
    clock.advance(10_000);
    await fail();
    expect(breaker.state()).toBe('closed');
  });

  it.each<ErrorCode>(['upstream_unavailable', 'upstream_timeout', 'upstream_invalid'])('counts %s', async (code) => {
    await repeat(20, () => fail(code));
    expect(breaker.state()).toBe('open');
  });

  it('counts "no such channel" as a success', async () => {
    await repeat(11, () => fail('channel_not_found'));
    await repeat(10, () => fail());
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });

  it.each([
    ['a local limit', new LocalLimitError('Spent.', 100), never],
    ['a bug', new TypeError('undefined is not a function'), never],
    ['an abandoned call', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
  ])('does not count %s', async (_name, error, signal) => {
    await repeat(40, () => fail(error, signal));
    await repeat(19, () => fail());
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });
});

describe('an open circuit breaker', () => {
  it('rejects calls with the remaining time', async () => {
    await openBreaker();
    clock.advance(4_000);
    const error = await fail();
    expect(error).toBeInstanceOf(LocalLimitError);
    expect(error).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 6_000 });
    expect(calls).toBe(0);
  });

  it('admits one call after ten seconds and rejects others meanwhile', async () => {
    await openBreaker();
    clock.advance(10_000);
    const response = Promise.withResolvers<string>();
    const probe = breaker.execute('probe', () => response.promise, never);
    expect(breaker.state()).toBe('half-open');
    expect(await fail()).toBeInstanceOf(LocalLimitError);
    response.resolve('found');
    expect(await probe).toBe('found');
    expect(breaker.state()).toBe('closed');
  });

  it('closes when its failures are forgotten, and forgets all calls before', async () => {
    await openBreaker();
    breaker.forgetFailures();
    expect(breaker.state()).toBe('closed');
    await repeat(19, () => fail());
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });

  it('closes on a probe that says "no such channel"', async () => {
    await openBreaker();
    clock.advance(10_000);
    await fail('channel_not_found');
    expect(breaker.state()).toBe('closed');
  });

  it.each([
    ['fails', new AppError('upstream_unavailable', 'HTML.'), never],
    ['is aborted', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
    ['fails because of a bug', new TypeError('undefined is not a function'), never],
  ])('stays open for another ten seconds when the probe %s', async (_name, error, signal) => {
    await openBreaker();
    clock.advance(10_000);
    expect(await fail(error, signal)).toBe(error);
    expect(breaker.state()).toBe('open');
    clock.advance(9_999);
    expect(await fail()).toBeInstanceOf(LocalLimitError);
    clock.advance(1);
    await succeed();
    expect(breaker.state()).toBe('closed');
  });

  it('is not affected by jumps of the wall clock', async () => {
    await openBreaker();
    clock.jumpWallClock(3_600_000);
    expect(await fail()).toBeInstanceOf(LocalLimitError);
    clock.jumpWallClock(-7_200_000);
    clock.advance(10_000);
    expect(await succeed()).toBe('found');
  });
});

describe('a circuit breaker and a key that fails', () => {
  it('counts one failure for the key, and calls upstream once', async () => {
    await repeat(100, () => failFor('refused'));
    expect(calls).toBe(1);
    await repeat(18, () => fail());
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });

  it('rejects calls for the key with its failure for 15 s, with the remaining time', async () => {
    expect(await failFor('refused')).toMatchObject({ message: 'This channel is not shown.', retryAfterMs: 15_000 });
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

  it('counts an unreadable response for its key', async () => {
    await repeat(100, () => fail('upstream_invalid', never, 'unreadable'));
    expect([calls, breaker.state()]).toEqual([1, 'closed']);
  });

  it('counts a failure of the whole upstream each time, whatever the key', async () => {
    await repeat(20, () => fail('upstream_unavailable', never, 'same'));
    expect([calls, breaker.state()]).toEqual([20, 'open']);
  });

  it('opens when enough keys fail', async () => {
    await repeat(20, () => failFor(nextKey()));
    expect(breaker.state()).toBe('open');
  });

  it('counts one of several calls for the key at the same time', async () => {
    const gate = Promise.withResolvers<never>();
    const failing = Array.from({ length: 30 }, () => breaker.execute('refused', () => gate.promise, never));
    gate.reject(new AppError('upstream_invalid', 'Not usable.'));
    await Promise.allSettled(failing);
    expect(breaker.state()).toBe('closed');
  });

  it('is not used as the probe, and does not prevent a probe for another key', async () => {
    await failFor('refused');
    await openBreaker();
    clock.advance(10_000);
    expect(await failFor('refused')).toMatchObject({ message: 'This channel is not shown.', retryAfterMs: 5_000 });
    expect([calls, breaker.state()]).toEqual([0, 'open']);
    await succeed('another');
    expect(breaker.state()).toBe('closed');
  });

  it('lets the next key be the probe if it fails as the probe', async () => {
    await openBreaker();
    clock.advance(10_000);
    await failFor('refused');
    expect(breaker.state()).toBe('half-open');
    await succeed('another');
    expect(breaker.state()).toBe('closed');
  });

  it('opens again when three keys in a row fail as the probe', async () => {
    await openBreaker();
    clock.advance(10_000);
    await repeat(3, () => failFor(nextKey()));
    expect(breaker.state()).toBe('open');
    expect(await fail()).toMatchObject({ retryAfterMs: 10_000 });
    expect(breaker.stats().opened).toBe(2);
  });

  it('lets the next call be the probe if a limit of the service prevented the first', async () => {
    await openBreaker();
    clock.advance(10_000);
    await fail(new LocalLimitError('Spent.', 100));
    await succeed();
    expect(breaker.state()).toBe('closed');
  });

  it('remembers failed keys within a bound', async () => {
    await repeat(200, () => failFor(`${nextKey()} ${'x'.repeat(10_000)}`));
    const { entries, bytes, maxBytes = 0 } = breaker.stats().failedKeys;
    expect(entries).toBeGreaterThan(0);
    expect(entries).toBeLessThan(60);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  });

  it('remembers a bounded number of calls', async () => {
    await repeat(1_100, () => succeed());
    expect(breaker.stats().calls).toEqual({ entries: 1_000, maxEntries: 1_000 });
  });
});

describe('a call that outlasts a change of the breaker', () => {
  const gate = () => Promise.withResolvers<string>();
  const begin = (late: PromiseWithResolvers<string>) =>
    Array.from({ length: 20 }, () => breaker.execute(nextKey(), () => late.promise, never));

  it('does not keep an open breaker open for longer', async () => {
    const late = gate();
    const begun = begin(late);
    await openBreaker();
    clock.advance(9_000);
    late.reject(new AppError('upstream_timeout', 'Too late.'));
    await Promise.allSettled(begun);
    clock.advance(1_000);
    await succeed();
    expect(breaker.state()).toBe('closed');
  });

  it('does not open a breaker that has closed since', async () => {
    const late = gate();
    const begun = begin(late);
    await openBreaker();
    clock.advance(10_000);
    await succeed();
    late.reject(new AppError('upstream_timeout', 'Too late.'));
    await Promise.allSettled(begun);
    expect(breaker.stats()).toMatchObject({ opened: 1 });
  });
});
