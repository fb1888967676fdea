/** Numbers from 0 up to but not including 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32), so that a run can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface ZipfOptions {
  /** The number of ranks. */
  readonly count: number;
  /** The rank r is requested in proportion to 1 / r^exponent. */
  readonly exponent: number;
}

/**
 * Ranks from 1 to `count` by Zipf's law, in constant time and memory: rejection-inversion (Hörmann and Derflinger,
 * "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6, 1996).
 */
export function createZipf({ count, exponent }: ZipfOptions, random: Random): () => number {
  const density = (x: number) => x ** -exponent;
  const integral = (x: number) => (exponent === 1 ? Math.log(x) : (x ** (1 - exponent) - 1) / (1 - exponent));
  const inverse = (y: number) => (exponent === 1 ? Math.exp(y) : (1 + y * (1 - exponent)) ** (1 / (1 - exponent)));
  const lowest = integral(1.5) - 1;
  const highest = integral(count + 0.5);
  const sure = 2 - inverse(integral(2.5) - density(2));

  return () => {
    while (true) {
      const y = highest + random() * (lowest - highest);
      const x = inverse(y);
      const rank = Math.min(count, Math.max(1, Math.round(x)));
      if (rank - x <= sure || y >= integral(rank + 0.5) - density(rank)) return rank;
    }
  };
}

/** Calls `visit` with each rank's share of all requests. */
export function forEachShare({ count, exponent }: ZipfOptions, visit: (share: number) => void): void {
  let sum = 0;
  for (let rank = 1; rank <= count; rank += 1) sum += rank ** -exponent;
  for (let rank = 1; rank <= count; rank += 1) visit(rank ** -exponent / sum);
}
