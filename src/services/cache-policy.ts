const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LAST_GOOD_MS = 7 * DAY_MS;

/** How long each kind of value is fresh, and may be served after it was loaded when the sources fail. */
export const LIFETIMES = {
  records: { freshMs: HOUR_MS, staleMs: LAST_GOOD_MS },
  names: { freshMs: HOUR_MS, staleMs: LAST_GOOD_MS },
  // An old list lacks what is new: each request asks again, and the sources' breakers see to it that few calls go out.
  searches: { freshMs: 10 * MINUTE_MS, staleMs: DAY_MS, retryFailedLoadMs: 0 },
  originals: { freshMs: DAY_MS, staleMs: LAST_GOOD_MS },
} as const;

/** Shares of the memory tier. */
export const MEMORY_SHARES = { records: 0.2, names: 0.05, searches: 0.1, originals: 0.05, pictures: 0.6 } as const;

/** Of `cache.db`. */
export const STORE_MAX_BYTES = 512 * 2 ** 20;

/** Of pictures that instances share (measured: docs/redis.md). */
export const SHARED_PICTURE_MAX_BYTES = 256 * 2 ** 10;
