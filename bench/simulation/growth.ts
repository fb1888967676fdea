import { forEachShare, type ZipfOptions } from './zipf.ts';

/** How many different channels so many independent requests name, on average. */
export function distinctChannels(popularity: ZipfOptions, requests: number): number {
  let distinct = 0;
  forEachShare(popularity, (share) => {
    distinct += 1 - Math.exp(-share * requests);
  });
  return distinct;
}

/**
 * The share of requests that meet a value loaded less than `freshSeconds` ago, where nothing is ever pushed out: a
 * channel asked for `rate` times a second is loaded once and then met `rate × freshSeconds` times.
 */
export function freshShare(popularity: ZipfOptions, requestsPerSecond: number, freshSeconds: number): number {
  let met = 0;
  forEachShare(popularity, (share) => {
    const expected = share * requestsPerSecond * freshSeconds;
    met += share * (expected / (1 + expected));
  });
  return met;
}
