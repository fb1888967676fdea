import { forEachShare, type ZipfOptions } from './zipf.ts';

/** The average number of different channels in this many independent requests. */
export function distinctChannels(popularity: ZipfOptions, requests: number): number {
  let distinct = 0;
  forEachShare(popularity, (share) => {
    distinct += 1 - Math.exp(-share * requests);
  });
  return distinct;
}

/**
 * The share of requests that find a value loaded less than `freshSeconds` ago, without eviction: a channel that is
 * requested `rate` times per second is loaded once and then found `rate × freshSeconds` times.
 */
export function freshShare(popularity: ZipfOptions, requestsPerSecond: number, freshSeconds: number): number {
  let met = 0;
  forEachShare(popularity, (share) => {
    const expected = share * requestsPerSecond * freshSeconds;
    met += share * (expected / (1 + expected));
  });
  return met;
}
