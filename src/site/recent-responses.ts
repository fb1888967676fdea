/** A response of the instance with its whole body. */
export interface ReceivedResponse {
  readonly headers: Headers;
  readonly body: Blob;
  /** From the request to the last byte. */
  readonly durationMs: number;
  /** True: the browser had the response, nothing was sent. */
  readonly isFromBrowser: boolean;
}

/** Responses that are still fresh, so that Back and Forward cost no requests. */
interface RecentResponses {
  readonly get: (key: string) => ReceivedResponse | undefined;
  readonly keep: (key: string, response: ReceivedResponse) => void;
}

const MAX_ENTRIES = 60;
const MAX_BYTES = 24_000_000;

/** @param now milliseconds */
export function createRecentResponses(now: () => number): RecentResponses {
  /** Least recently kept first. */
  const entries: Map<string, { response: ReceivedResponse; untilMs: number }> = new Map();
  let bytes = 0;

  function remove(key: string) {
    bytes -= entries.get(key)?.response.body.size ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs > now()) return entry.response;
      remove(key);
      return undefined;
    },

    keep(key, response) {
      const [, seconds = 0] = /max-age=(\d{1,9})/.exec(response.headers.get('cache-control') ?? '') ?? [];
      remove(key);
      if (Number(seconds) === 0 || response.body.size > MAX_BYTES) return;
      entries.set(key, { response, untilMs: now() + Number(seconds) * 1000 });
      bytes += response.body.size;
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES && bytes <= MAX_BYTES) break;
        remove(oldest);
      }
    },
  };
}
