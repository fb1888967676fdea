import type { Budget } from './budget.ts';

/** Requests that the page leaves to the visitor. */
export const RESERVE = 2;

/** Resolves when a request leaves the reserve untouched, or when the visitor does not want to wait. */
export async function waitForBudget(budget: Budget, wait: (ms: number) => Promise<'over' | 'now'>) {
  for (let ms = budget.waitMs(RESERVE); ms > 0; ms = budget.waitMs(RESERVE)) {
    if ((await wait(ms)) === 'now') return;
  }
}

/** @returns rejects with the signal's reason */
export function pauseFor(ms: number, signal: AbortSignal): Promise<'over'> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(() => resolve('over'), ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

/** Half a screen ahead, so that an image is usually there when it is scrolled to. */
const AHEAD = '50% 0px';

/** Calls back once the element is nearly on the screen, so that no request is spent on images that nobody sees. */
export function whenSeen(element: Element, signal: AbortSignal, onSeen: () => void) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      onSeen();
    },
    { rootMargin: AHEAD },
  );
  observer.observe(element);
  signal.addEventListener('abort', () => observer.disconnect(), { once: true });
}
