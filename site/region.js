import { Problem } from './api.js';
import { waitForBudget } from './patience.js';

/**
 * What a region of the page does at the moment, such as a lookup.
 *
 * @template T
 * @typedef {object} Action
 * @property {string} label a sentence for the notice while it loads
 * @property {string} verb for the button that skips a wait: "Look up"
 * @property {(options: { signal: AbortSignal, beforeSend: () => Promise<void> }) => Promise<T>} load rejects with `Problem`
 * @property {(loaded: T, signal: AbortSignal) => void} show the signal is aborted when the next action begins
 * @property {(problem: Problem) => HTMLElement[]} [fail] removes what belongs to the action; returns buttons for the notice
 * @property {() => void} retry begins the action again
 */

/**
 * A region has one action at a time. A new action replaces the former one, which then changes nothing. Only the current
 * action writes the notice of the region, and the visitor can cancel it.
 *
 * @param {object} deps
 * @param {Pick<ReturnType<typeof import('./notice.js').createNotice>, 'clear' | 'say' | 'busy' | 'wait' | 'explain'>} deps.notice
 * @param {import('./budget.js').Budget} deps.budget
 */
export function createRegion({ notice, budget }) {
  let current = new AbortController();

  function end() {
    current.abort();
    current = new AbortController();
    notice.clear();
  }

  return {
    /** Ends the current action. */
    end,

    /**
     * Ends the current action and shows a sentence.
     *
     * @param {string} words
     */
    say(words) {
      end();
      notice.say(words);
    },

    /**
     * @template T
     * @param {Action<T>} action
     */
    async run({ label, verb, load, show, fail, retry }) {
      end();
      const own = current;
      const { signal } = own;
      const cancel = () => own.abort(new Problem({ status: 0, code: 'cancelled', detail: '' }));
      notice.busy(label, cancel);
      try {
        const loaded = await load({
          signal,
          async beforeSend() {
            await waitForBudget(budget, (ms) => notice.wait(ms, { verb, cancel, signal }));
            signal.throwIfAborted();
            notice.busy(label, cancel);
          },
        });
        signal.throwIfAborted();
        notice.clear();
        show(loaded, signal);
      } catch (error) {
        if (own !== current) return;
        if (!(error instanceof Problem)) throw error;
        notice.explain(error, retry, ...(fail?.(error) ?? []));
      }
    },
  };
}
