/** A steady rate with a burst after a quiet time. Times are monotonic milliseconds and never go back. */
export interface TokenBucket {
  available(nowMs: number): number;
  /** Takes one token; an empty bucket stays empty. */
  take(nowMs: number): void;
  /** The time until this many tokens are available, 0 if they are available now. */
  msUntil(tokens: number, nowMs: number): number;
  isFull(nowMs: number): boolean;
}

export interface TokenBucketOptions {
  readonly perSecond: number;
  readonly capacity: number;
  readonly nowMs: number;
}

/** A token counts as complete if less than this is missing, because fractions are added up. */
const ROUNDING = 1e-6;

/** It is full at first. */
export function createTokenBucket({ perSecond, capacity, nowMs: startMs }: TokenBucketOptions): TokenBucket {
  let tokens = capacity;
  let filledAtMs = startMs;

  function fill(nowMs: number): void {
    tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) / 1000) * perSecond);
    filledAtMs = nowMs;
  }

  function msUntil(wanted: number, nowMs: number): number {
    fill(nowMs);
    const missing = wanted - tokens;
    return missing < ROUNDING ? 0 : (missing / perSecond) * 1000;
  }

  return {
    available(nowMs) {
      fill(nowMs);
      return tokens + ROUNDING;
    },
    take(nowMs) {
      fill(nowMs);
      tokens = Math.max(0, tokens - 1);
    },
    msUntil,
    isFull: (nowMs) => msUntil(capacity, nowMs) === 0,
  };
}
