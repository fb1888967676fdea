import type { Budget } from './budget.ts';
import { element, find } from './dom.ts';
import { formatSeconds } from './numbers.ts';
import { RESERVE } from './patience.ts';

const MAX_PIPS = 20;

/** Shows how many requests the rate limit leaves, one bar for each. */
export function createBudgetMeter(container: HTMLElement, budget: Budget): { update: () => void } {
  const pips = find('.pips', HTMLElement, container);
  const text = find('.budget-text', HTMLElement, container);
  setInterval(update, 500);

  function update() {
    const state = budget.state();
    container.classList.toggle('is-known', state !== undefined);
    if (state === undefined) return;
    const { limit, remaining, nextInMs } = state;
    pips.hidden = limit > MAX_PIPS;
    const shown = limit > MAX_PIPS ? 0 : limit;
    pips.replaceChildren(
      ...Array.from({ length: shown }, (_, index) => {
        const kind = index >= remaining ? '' : index < RESERVE ? 'free reserved' : 'free';
        return element('i', { class: kind });
      }),
    );
    const next = nextInMs > 0 ? `, next in ${formatSeconds(nextInMs)}` : '';
    const reserve = limit > RESERVE ? '. The page leaves the last two to you' : '';
    text.textContent = `${remaining} of ${limit} requests left${next}${reserve}.`;
  }

  return { update };
}
