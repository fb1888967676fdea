import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { type Breaker, createBreaker, type Verdict } from './breaker.ts';

const MINUTE_MS = 60_000;

let clock: ManualClock;
let breaker: Breaker;
let keys: number;
beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 23, 14, 9));
  keys = 0;
  breaker = createBreaker(clock);
});

function verdict(kind: Verdict['kind'], waitMs?: number): Verdict {
  return kind === 'answered' ? { kind, value: undefined } : { kind, detail: 'status 500', waitMs };
}

/** A call for a key of its own. @returns why the breaker is open */
function call(kind?: Verdict['kind'], { key, waitMs }: { key?: string; waitMs?: number } = {}) {
  keys += 1;
  const usedKey = key ?? `key ${keys}`;
  expect(breaker.admit(usedKey)).toBe(0);
  breaker.settle(usedKey, kind && verdict(kind, waitMs));
  return breaker.state()?.cause;
}

/** Lets the open time pass. @returns its length */
function becomeHalfOpen(): number {
  const ms = (breaker.state()?.untilMs ?? 0) - clock.now();
  clock.advance(ms);
  return ms;
}

describe('a breaker', () => {
  it.each<Verdict['kind']>(['failing', 'unreachable', 'unreadable'])('opens when five keys are %s in a row', (kind) => {
    for (let failed = 0; failed < 10; failed += 1) call(kind, { key: 'one' });
    for (let failed = 0; failed < 3; failed += 1) call(kind);
    call('answered');
    for (let failed = 0; failed < 4; failed += 1) call(kind);
    call();
    expect(breaker.state()).toBeUndefined();
    expect(call(kind)).toBe(kind === 'unreadable' ? 'failing' : kind);
    expect(breaker.state()?.detail).toBe('status 500');
    expect(breaker.admit('another')).toBe(10_000);
  });

  it('opens at once when this address is refused, for the time that is named if that is longer', () => {
    breaker.admit('under way');
    expect(call('refused', { waitMs: 90_000 })).toBe('refused');
    clock.advance(1_000);
    breaker.settle('under way', verdict('refused'));
    expect(breaker.state()).toMatchObject({ cause: 'refused', untilMs: clock.now() + 89_000 });
  });

  it('is open until the time at which a quota is renewed, whatever the wall clock does', () => {
    call('quota', { waitMs: MINUTE_MS });
    clock.jumpWallClock(3_600_000);
    expect(breaker.admit('early')).toBe(MINUTE_MS);
    clock.advance(MINUTE_MS);
    expect(call('answered')).toBeUndefined();
  });

  it.each<[Verdict['kind'], Verdict['kind'], number, number[]]>([
    ['failing', 'failing', 5, [10, 20, 40, 80, 160, 300, 300]],
    ['failing', 'unreachable', 5, [10, 20, 40]],
    ['refused', 'refused', 1, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]],
    // It cannot be told whether the refusal has ended.
    ['refused', 'failing', 1, [60, 120, 240]],
  ])(
    'that opened because calls are %s doubles its time when a trial is %s, up to a limit',
    (first, later, calls, seconds) => {
      for (let failed = 0; failed < calls; failed += 1) call(first);
      for (const expected of seconds) {
        expect(becomeHalfOpen()).toBe(expected * 1_000);
        call(later);
      }
    },
  );
});

describe('a trial', () => {
  beforeEach(() => {
    call('refused');
    becomeHalfOpen();
  });

  it('is all calls of one key together, and their worst verdict decides', () => {
    expect([breaker.admit('trial'), breaker.admit('trial'), breaker.admit('other')]).toEqual([0, 0, 1_000]);
    breaker.settle('trial', verdict('failing'));
    expect(breaker.admit('other')).toBe(1_000);
    breaker.settle('trial', verdict('answered'));
    expect(breaker.admit('other')).toBe(2 * MINUTE_MS);
  });

  it('ends at once with a refusal', () => {
    breaker.admit('trial');
    breaker.admit('trial');
    breaker.settle('trial', verdict('refused'));
    expect(breaker.admit('trial')).toBe(2 * MINUTE_MS);
    breaker.settle('trial', verdict('answered'));
    expect(breaker.admit('trial')).toBe(2 * MINUTE_MS);
  });

  it.each([undefined, 'unreadable' as const])(
    'that ends with the verdict %s leaves the trial to the next key',
    (kind) => {
      expect(call(kind)).toBe('refused');
      expect(call('answered')).toBeUndefined();
    },
  );
});
