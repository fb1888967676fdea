import { element } from './dom.js';
import { formatSeconds } from './numbers.js';

/** @typedef {import('./api.js').Problem} Problem */

/** @type {Record<string, string>} */
const TITLES = {
  rate_limited: 'Too many requests.',
  invalid_parameter: 'Invalid request.',
  channel_not_found: 'No such channel.',
  image_not_found: 'No such image.',
  channel_blocked: 'This channel is blocked here.',
  upstream_invalid: 'The source gave no usable response.',
  upstream_unavailable: 'The source is unavailable.',
  upstream_timeout: 'The source did not respond in time.',
  overloaded: 'The instance is busy.',
  internal: 'Internal error.',
  unreachable: 'No response.',
  unreadable: 'Not a Pennant response.',
  cancelled: 'Cancelled.',
};

/**
 * The notice of a region (region.js). Shows the current activity, errors and possible actions. Only the text is announced to screen readers, because the
 * buttons count down.
 *
 * @param {HTMLElement} container
 */
export function createNotice(container) {
  const text = element('p', { role: 'status' });
  const actions = element('div', { class: 'actions' });
  container.append(text, actions);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  /**
   * @param {(Node | string | null)[]} words
   * @param {HTMLElement[]} [buttons]
   */
  function set(words, buttons = []) {
    clearInterval(ticking);
    text.replaceChildren(...words.filter((word) => word !== null));
    actions.replaceChildren(...buttons);
    container.classList.toggle('is-shown', words.length > 0);
    container.classList.remove('is-busy');
  }

  /**
   * Calls `onTick` with the remaining time, at once and then repeatedly, and `onEnd` when the time is over.
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
    clear: () => set([]),

    /**
     * @param {string} words
     */
    say: (words) => set([words]),

    /**
     * Says that something is being loaded.
     *
     * @param {string} words
     * @param {() => void} cancel
     */
    busy(words, cancel) {
      set([words], [button('Cancel', cancel)]);
      container.classList.add('is-busy');
    },

    /**
     * @param {Problem} problem
     * @param {() => void} retry offered only if it can help
     * @param {...HTMLElement} otherActions
     */
    explain({ code, message, requestId, retryAfterMs, canRetry }, retry, ...otherActions) {
      const again = button('Try again', retry);
      const reference = requestId === '' ? null : element('span', { class: 'muted' }, ` Request ${requestId}.`);
      const title = element('strong', {}, TITLES[code] ?? 'The request failed.');
      set([title, ` ${message}`, reference], canRetry ? [...otherActions, again] : otherActions);
      if (retryAfterMs === 0 || !canRetry) return;
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
     * Says that a request waits for budget, until it is there or the visitor does not want to wait. What comes next
     * replaces the words.
     *
     * @param {number} ms
     * @param {{ verb: string, cancel: () => void, signal: AbortSignal }} action
     * @returns {Promise<'over' | 'now'>} rejects with the signal's reason
     */
    wait(ms, { verb, cancel, signal }) {
      /** @type {PromiseWithResolvers<'over' | 'now'>} */
      const { promise, resolve, reject } = Promise.withResolvers();
      const left = element('span', { class: 'number', 'aria-hidden': 'true' });
      const title = element('strong', {}, 'Waiting for the rate limit.');
      set(
        [title, ' The page leaves your last two requests to you. ', left],
        [button(`${verb} now`, () => resolve('now')), button('Cancel', cancel)],
      );
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      countDown(
        ms,
        (leftMs) => {
          left.textContent = `Continues in ${formatSeconds(leftMs)}.`;
        },
        () => resolve('over'),
      );
      return promise;
    },
  };
}

/**
 * @param {string} label
 * @param {() => void} onclick
 */
function button(label, onclick) {
  return element('button', { type: 'button', onclick }, label);
}
