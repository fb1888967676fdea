import type { Problem } from './api.ts';
import { element } from './dom.ts';
import { formatSeconds } from './numbers.ts';

export interface Notice {
  readonly clear: () => void;
  readonly say: (words: string) => void;
  /** Says that something is being loaded. */
  readonly busy: (words: string, cancel: () => void) => void;
  /** @param retry offered only if it can help; called after the wait that the response names */
  readonly explain: (problem: Problem, retry: () => void, ...otherActions: HTMLElement[]) => void;
  /**
   * Says that a request waits for budget, until it is there or the visitor does not want to wait. What comes next
   * replaces the words.
   *
   * @returns rejects with the signal's reason
   */
  readonly wait: (
    ms: number,
    options: { verb: string; cancel?: () => void; signal: AbortSignal },
  ) => Promise<'over' | 'now'>;
}

/**
 * The notice of a region (region.ts). Shows the current activity, errors and possible actions. Only the text is announced
 * to screen readers, because the buttons count down.
 */
export function createNotice(container: HTMLElement): Notice {
  const text = element('p', { role: 'status' });
  const actions = element('div', { class: 'actions' });
  container.append(text, actions);
  let ticking: ReturnType<typeof setInterval> | undefined;

  function set(words: (Node | string | null)[], buttons: HTMLElement[] = []) {
    clearInterval(ticking);
    text.replaceChildren(...words.filter((word) => word !== null));
    actions.replaceChildren(...buttons);
    container.classList.toggle('is-shown', words.length > 0);
    container.classList.remove('is-busy');
  }

  /** Calls `onTick` with the remaining time, at once and then repeatedly, and `onEnd` when the time is over. */
  function countDown(ms: number, onTick: (leftMs: number) => void, onEnd: () => void) {
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

    say: (words) => set([words]),

    busy(words, cancel) {
      set([words], [button('Cancel', cancel)]);
      container.classList.add('is-busy');
    },

    explain({ title, message, requestId, retryAfterMs, canRetry }, retry, ...otherActions) {
      const again = button('Try again', retry);
      const reference = requestId === '' ? null : element('span', { class: 'muted' }, ` Request ${requestId}.`);
      set(
        [element('strong', {}, `${title}.`), ` ${message}`, reference],
        canRetry ? [...otherActions, again] : otherActions,
      );
      if (retryAfterMs === 0 || !canRetry) return;
      again.setAttribute('disabled', '');
      countDown(
        retryAfterMs,
        (leftMs) => {
          again.textContent = `Try again in ${formatSeconds(leftMs)}`;
        },
        retry,
      );
    },

    wait(ms, { verb, cancel, signal }) {
      const { promise, resolve, reject }: PromiseWithResolvers<'over' | 'now'> = Promise.withResolvers();
      const left = element('span', { class: 'number', 'aria-hidden': 'true' });
      const title = element('strong', {}, 'Waiting for the rate limit.');
      set(
        [title, ' The page leaves your last two requests to you. ', left],
        [button(`${verb} now`, () => resolve('now')), ...(cancel === undefined ? [] : [button('Cancel', cancel)])],
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

function button(label: string, onclick: () => void) {
  return element('button', { type: 'button', onclick }, label);
}
