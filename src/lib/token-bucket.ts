/** A token counts as complete if less than this is missing, because fractions are added up. */
const ROUNDING = 1e-6;

/** A steady rate with a burst after a quiet time. The bucket starts full. Times are monotonic milliseconds and never go back. */
export function createTokenBucket(options: Readonly<Record<'perSecond' | 'capacity' | 'nowMs', number>>) {
  const { perSecond, capacity, nowMs: startMs } = options;
  let tokens = capacity;
  let filledAtMs = startMs;

  function fill(nowMs: number): number {
    tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) / 1000) * perSecond);
    filledAtMs = nowMs;
    return tokens;
  }

  return {
    /** The complete tokens. */
    available: (nowMs: number): number => Math.floor(fill(nowMs) + ROUNDING),
    /** Takes one token; an empty bucket stays empty. */
    take(nowMs: number): void {
      tokens = Math.max(0, fill(nowMs) - 1);
    },
    /** The time until this many tokens are available, 0 if they are available now. */
    msUntil(wanted: number, nowMs: number): number {
      const missing = wanted - fill(nowMs);
      return missing < ROUNDING ? 0 : (missing / perSecond) * 1000;
    },
  };
}
