/**
 * @typedef {import('./api.js').Reply} Reply
 * @typedef {object} RecentResponses Replies that are still fresh, so that Back and Forward cost no requests.
 * @property {(key: string) => Reply | undefined} get
 * @property {(key: string, response: Reply) => void} keep
 */

const MAX_ENTRIES = 60;
const MAX_BYTES = 24_000_000;

/**
 * @param {() => number} now milliseconds
 * @returns {RecentResponses}
 */
export function createRecentResponses(now) {
  /** @type {Map<string, { response: Reply, untilMs: number }>} least recently kept first */
  const entries = new Map();
  let bytes = 0;

  /** @param {string} key */
  function remove(key) {
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
