import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { OwnLimitError } from './own-limit.ts';

let clock: ManualClock;
let breaker: CircuitBreaker;
let calls: number;

beforeEach(() => {
  clock = createManualClock();
  breaker = createCircuitBreaker({ clock });
  calls = 0;
});

const never = new AbortController().signal;

function succeed(): Promise<string> {
  return breaker.execute(async () => {
    calls += 1;
    return 'found';
  }, never);
}

function fail(reason: ErrorCode | Error = 'upstream_timeout', signal = never): Promise<unknown> {
  const error = reason instanceof Error ? reason : new AppError(reason, 'It failed.');
  return breaker
    .execute(async () => {
      calls += 1;
      throw error;
    }, signal)
    .catch((thrown: unknown) => thrown);
}

async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < times; done += 1) await call();
}

async function openBreaker(): Promise<void> {
  await repeat(20, fail);
  expect(breaker.state()).toBe('open');
  calls = 0;
}

describe('a circuit breaker', () => {
  it('hands on values and errors as they are', async () => {
    const error = new AppError('upstream_invalid', 'Not usable.');
    expect(await succeed()).toBe('found');
    expect(await fail(error)).toBe(error);
  });

  it('opens when half of twenty calls fail', async () => {
    await repeat(10, succeed);
    await repeat(9, fail);
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
    expect(breaker.stats().opened).toBe(1);
  });

  it('stays closed when less than half fail', async () => {
    await repeat(11, succeed);
    await repeat(10, fail);
    expect(breaker.state()).toBe('closed');
  });

  it('does not judge by fewer than twenty calls', async () => {
    await repeat(19, fail);
    expect(breaker.state()).toBe('closed');
  });

  it('counts calls of the last ten seconds only', async () => {
    await repeat(19, fail);
    clock.advance(10_000);
    await fail();
    expect(breaker.state()).toBe('closed');
  });

  it.each<ErrorCode>(['upstream_unavailable', 'upstream_timeout', 'upstream_invalid'])('counts %s', async (code) => {
    await repeat(20, () => fail(code));
    expect(breaker.state()).toBe('open');
  });

  it('takes "no such channel" for an answer like any other', async () => {
    await repeat(11, () => fail('channel_not_found'));
    await repeat(10, fail);
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });

  it.each([
    ['a limit of our own', new OwnLimitError('Spent.', 100), never],
    ['a bug', new TypeError('undefined is not a function'), never],
    ['a call that was given up', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
  ])('leaves out %s', async (_name, error, signal) => {
    await repeat(40, () => fail(error, signal));
    await repeat(19, fail);
    expect(breaker.state()).toBe('closed');
    await fail();
    expect(breaker.state()).toBe('open');
  });
});

describe('an open circuit breaker', () => {
  it('refuses calls and says for how long', async () => {
    await openBreaker();
    clock.advance(4_000);
    const error = await fail();
    expect(error).toBeInstanceOf(OwnLimitError);
    expect(error).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 6_000 });
    expect(calls).toBe(0);
    expect(breaker.stats().refused).toBe(1);
  });

  it('lets one call through after ten seconds and refuses others meanwhile', async () => {
    await openBreaker();
    clock.advance(10_000);
    const answer = Promise.withResolvers<string>();
    const probe = breaker.execute(() => answer.promise, never);
    expect(breaker.state()).toBe('half-open');
    expect(await fail()).toBeInstanceOf(OwnLimitError);
    answer.resolve('found');
    expect(await probe).toBe('found');
    expect(breaker.state()).toBe('closed');
  });

  it('closes on a good probe and forgets what was before', async () => {
    await openBreaker();
    clock.advance(10_000);
    await succeed();
    await repeat(18, fail);
    expect(breaker.state()).toBe('closed');
  });

  it('closes on a probe that says "no such channel"', async () => {
    await openBreaker();
    clock.advance(10_000);
    await fail('channel_not_found');
    expect(breaker.state()).toBe('closed');
  });

  it.each([
    ['fails', new AppError('upstream_invalid', 'HTML.'), never],
    ['is given up', new AppError('upstream_timeout', 'Given up.'), AbortSignal.abort()],
    ['ends in a bug', new TypeError('undefined is not a function'), never],
  ])('stays open for another ten seconds when the probe %s', async (_name, error, signal) => {
    await openBreaker();
    clock.advance(10_000);
    expect(await fail(error, signal)).toBe(error);
    expect(breaker.state()).toBe('open');
    clock.advance(9_999);
    expect(await fail()).toBeInstanceOf(OwnLimitError);
    clock.advance(1);
    await succeed();
    expect(breaker.state()).toBe('closed');
  });

  it('does not care when the wall clock jumps', async () => {
    await openBreaker();
    clock.jumpWallClock(3_600_000);
    expect(await fail()).toBeInstanceOf(OwnLimitError);
    clock.jumpWallClock(-7_200_000);
    clock.advance(10_000);
    expect(await succeed()).toBe('found');
  });
});
