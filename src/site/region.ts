import { Problem } from './api.ts';
import type { Budget } from './budget.ts';
import { createNotice } from './notice.ts';
import { waitForBudget } from './patience.ts';

/** Something that a region of the page loads and shows, such as a lookup. */
interface Action<T> {
  /** A sentence for the notice while it loads. */
  readonly label: string;
  /** For the button that skips a wait: "Look up". */
  readonly verb: string;
  /** Rejects with `Problem`. */
  readonly load: (options: { signal: AbortSignal; beforeSend: () => Promise<void> }) => Promise<T>;
  /** The signal is aborted when the next action begins. */
  readonly show: (loaded: T, signal: AbortSignal) => void;
  /** Removes what belongs to the action; returns buttons for the notice. */
  readonly fail?: (problem: Problem) => HTMLElement[];
  /** Begins the action again. */
  readonly retry: () => void;
}

/**
 * A region has one action at a time. A new action replaces the former one, which then changes nothing. Only the current
 * action writes the notice of the region, and the visitor can cancel it.
 *
 * @param noticeElement where the region has its notice
 */
export function createRegion(noticeElement: HTMLElement, budget: Budget) {
  const notice = createNotice(noticeElement);
  let current = new AbortController();

  function end() {
    current.abort();
    current = new AbortController();
    notice.clear();
  }

  return {
    /** Ends the current action. */
    end,

    /** Ends the current action and shows a sentence. */
    say(words: string) {
      end();
      notice.say(words);
    },

    async run<T>({ label, verb, load, show, fail, retry }: Action<T>) {
      end();
      const own = current;
      const { signal } = own;
      const cancel = () => own.abort(new Problem({ status: 0, code: 'cancelled', title: 'Cancelled', detail: '' }));
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
        if (error.code === 'offline') addEventListener('online', retry, { once: true, signal });
      }
    },
  };
}
