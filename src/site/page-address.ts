import { addressOf, type PageState, readState } from './page-state.ts';

/** The state of the page, which its address contains. */
export interface PageAddress {
  readonly state: () => PageState;
  /**
   * Changes the state and the address.
   *
   * @param options `replace`: Back does not return to the former state
   */
  readonly navigate: (changes: Partial<PageState>, options?: { replace?: boolean }) => void;
  /** Reads the address again, after Back or Forward. Returns the former state. */
  readonly reread: () => PageState;
  /** The address of the page in another state. */
  readonly hrefOf: (state: PageState) => string;
}

export function createPageAddress(): PageAddress {
  let state = readState(location.href);
  return {
    state: () => state,
    hrefOf: (other) => addressOf(other, location.href),

    navigate(changes, { replace = false } = {}) {
      state = { ...state, ...changes };
      const address = addressOf(state, location.href);
      if (replace || address === location.href) history.replaceState(null, '', address);
      else history.pushState(null, '', address);
    },

    reread() {
      const former = state;
      state = readState(location.href);
      return former;
    },
  };
}
