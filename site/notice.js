import { element } from './dom.js';
import { formatSeconds } from './numbers.js';

/** @typedef {import('./api.js').Problem} Problem */

/** @type {Record<string, string>} */
const TITLES = {
  rate_limited: 'Too many requests.',
  invalid_parameter: 'Invalid request.',
  channel_not_found: 'No such channel.',
  image_not_found: 'No such picture.',
  channel_blocked: 'This channel is blocked here.',
  upstream_invalid: 'The source gave no usable answer.',
  upstream_unavailable: 'The source is unavailable.',
  upstream_timeout: 'The source did not answer in time.',
  overloaded: 'The instance is busy.',
  internal: 'Internal error.',
  unreachable: 'No answer.',
};

/**
 * One place for what went wrong and what can be done about it.
 *
 * @param {HTMLElement} container
 */
export function createNotice(container) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  function clear() {
    clearInterval(ticking);
    container.replaceChildren();
  }

  /**
   * Calls `onTick` with what is left, at once and each second, and then `onEnd`.
   *
   * @param {number} ms
   * @param {(leftMs: number) => void} onTick
   * @param {() => void} onEnd
   */
  function countDown(ms, onTick, onEnd) {
    const endsAt = performance.now() + ms;
    const tick = () => {
      const leftMs = endsAt - performance.now();
      if (leftMs > 0) return onTick(leftMs);
      clearInterval(ticking);
      onEnd();
    };
    tick();
    ticking = setInterval(tick, 250);
  }

  return {
    clear,

    /** @param {string} text */
    say(text) {
      clear();
      container.append(text);
    },

    /**
     * @param {Problem} problem
     * @param {() => void} retry
     * @param {...HTMLElement} otherActions
     */
    explain({ code, message, requestId, retryAfterMs }, retry, ...otherActions) {
      clear();
      const again = element('button', { type: 'button', onclick: retry }, 'Try again');
      const reference = requestId === '' ? null : element('span', { class: 'muted' }, ` Request ${requestId}.`);
      container.append(
        element('p', {}, element('strong', {}, TITLES[code] ?? 'The request failed.'), ` ${message}`, reference),
        element('div', { class: 'actions' }, ...otherActions, again),
      );
      if (retryAfterMs === 0) return;
      again.setAttribute('disabled', '');
      countDown(
        retryAfterMs,
        (leftMs) => {
          again.textContent = `Try again in ${formatSeconds(leftMs)}`;
        },
        () => {
          again.removeAttribute('disabled');
          again.textContent = 'Try again';
        },
      );
    },

    /**
     * Says that a request waits for budget, until the time is over or somebody wants it now.
     *
     * @param {number} ms
     * @param {string} what
     * @param {AbortSignal} signal
     * @returns {Promise<'over' | 'now'>} rejects with the signal's reason
     */
    wait(ms, what, signal) {
      clear();
      /** @type {PromiseWithResolvers<'over' | 'now'>} */
      const { promise, resolve, reject } = Promise.withResolvers();
      const left = element('span', { class: 'number', 'aria-hidden': 'true' });
      const now = element('button', { type: 'button', onclick: () => resolve('now') }, `${what} now`);
      container.append(
        element(
          'p',
          {},
          element('strong', {}, 'Waiting for budget.'),
          ' The page leaves your last two requests to you. ',
          left,
        ),
        element('div', { class: 'actions' }, now),
      );
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      countDown(
        ms,
        (leftMs) => {
          left.textContent = `Continues in ${formatSeconds(leftMs)}.`;
        },
        () => resolve('over'),
      );
      return promise.finally(clear);
    },
  };
}
