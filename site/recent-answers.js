/**
 * @typedef {import('./api.js').Answer} Answer
 * @typedef {object} RecentAnswers Answers that are still fresh, so that Back and Forward cost no requests.
 * @property {(key: string) => Answer | undefined} get
 * @property {(key: string, answer: Answer) => void} keep
 */

const MAX_ENTRIES = 60;
const MAX_BYTES = 24_000_000;

/**
 * @param {() => number} now milliseconds
 * @returns {RecentAnswers}
 */
export function createRecentAnswers(now) {
  /** @type {Map<string, { answer: Answer, untilMs: number }>} least recently kept first */
  const entries = new Map();
  let bytes = 0;

  /** @param {string} key */
  function remove(key) {
    bytes -= entries.get(key)?.answer.body.size ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs > now()) return entry.answer;
      remove(key);
      return undefined;
    },

    keep(key, answer) {
      const [, seconds = 0] = /max-age=(\d{1,9})/.exec(answer.headers.get('cache-control') ?? '') ?? [];
      remove(key);
      if (Number(seconds) === 0 || answer.body.size > MAX_BYTES) return;
      entries.set(key, { answer, untilMs: now() + Number(seconds) * 1000 });
      bytes += answer.body.size;
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES && bytes <= MAX_BYTES) break;
        remove(oldest);
      }
    },
  };
}
