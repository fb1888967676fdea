/**
 * Every time limit of a request's work, in milliseconds. `time-limits.test.ts` names the limit that contains each one.
 * Redis has its own limits (`src/lib/redis/connection.ts`), and so does work that no client waits for.
 */
export const TIME_LIMITS_MS = {
  /** A request without a result within this time gets an error. Its load continues for the next request. */
  response: 11_500,
  /** An image. After this time the encoder counts as overloaded, not the upstream as failed. */
  image: 11_000,
  /** A search with all further pages. */
  search: 11_000,
  /** A batch of channels. Channels that are not loaded within this time are stale or errors. */
  batch: 11_000,
  /** The channel that a search names. */
  namedChannel: 10_000,
  /** One load from all sources together. It may continue after the response that started it. */
  allSources: 12_000,
  /** One call of one source, with its retries. */
  sourceAttempt: 5_000,
  /** One HTTP request to an upstream API, with its body. */
  upstreamCall: 5_000,
  /** A refused call to YouTube waits for a lookup of the client version. */
  clientVersion: 3_000,
  /** A loaded channel page waits for the About data. */
  aboutWait: 3_000,
  /** A record with missing fields waits for another source to fill them. */
  fillMissingFields: 1_500,
  /** A search waits for slow sources after another source found something. */
  slowSourceWait: 3_000,
  /** A stale list is returned when its reload takes longer. Shorter than `slowSourceWait`, so that the search gets the list. */
  searchSoftTimeout: 2_500,
  /** A stale value is returned when its reload takes longer. */
  softTimeout: 3_000,
  /** The download of an original, all its URLs together. */
  download: 10_000,
  /** An original or an image waits for an encoder process. */
  encoderWait: 8_000,
  /** The inspection of an original by an encoder process. */
  inspect: 8_000,
  /** An encode by an encoder process. */
  encode: 10_000,
  /** A read from the catalog. After this time the catalog counts as unreadable. */
  catalogRead: 2_000,
  /** A read of a stored image. After this time it counts as absent. */
  imageRead: 2_000,
  /** A read from the store. After this time the value counts as absent. */
  storeRead: 500,
} as const;
