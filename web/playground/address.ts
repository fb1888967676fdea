import { type ReadonlySignal, signal } from '@preact/signals';
import { BADGE_METRICS, BADGE_STYLES, DEFAULT_METRIC, DEFAULT_STYLE } from '../../src/domain/badges.ts';
import { FORMATS } from '../../src/domain/formats.ts';
import { MAX_SIDE_PX, VARIANTS } from '../../src/domain/variants.ts';

/** The image's own width in an address, where an empty value would look like a mistake. */
export const OWN_WIDTH = 'auto';

/** Which values an address may have, by parameter. */
const ALLOWED = {
  /** A handle, an ID or what somebody typed. */
  channel: /./,
  variant: oneOf(VARIANTS),
  format: oneOf(FORMATS),
  width: (text: string) => text === OWN_WIDTH || isUpTo(MAX_SIDE_PX, text),
  height: (text: string) => isUpTo(MAX_SIDE_PX, text),
  quality: (text: string) => isUpTo(100, text),
  fit: oneOf(['contain']),
  background: /^(?:[\da-f]{3}|[\da-f]{6}|transparent)$/i,
  metric: oneOf(BADGE_METRICS, DEFAULT_METRIC),
  style: oneOf(BADGE_STYLES, DEFAULT_STYLE),
  label: /^.{1,60}$/s,
  color: /^[\da-f]{6}$/i,
  logo: oneOf(['youtube']),
} satisfies Record<string, RegExp | ((text: string) => boolean)>;

/** What the page shows. An empty value is the usual one, and not in the address. */
export type PageState = Readonly<Record<keyof typeof ALLOWED, string>>;

export interface PageAddress {
  readonly state: ReadonlySignal<PageState>;
  /** Changes the state and the address, so that Back returns to the former state. */
  readonly go: (changes: Partial<PageState>) => void;
}

/** The address of the window, also after Back and Forward. */
export function followAddress(): PageAddress {
  const state = signal(readState(location.search));
  addEventListener('popstate', () => {
    state.value = readState(location.search);
  });
  return {
    state,
    go(changes) {
      const changed = { ...state.value, ...changes };
      const search = searchOf(changed);
      if (search === searchOf(state.value)) return;
      state.value = changed;
      history.pushState(null, '', location.pathname + search);
    },
  };
}

/** Reads the query of an address. Values that the page could not have written are ignored. */
export function readState(search: string): PageState {
  const params = new URLSearchParams(search);
  const read = Object.entries(ALLOWED).map(([name, rule]) => {
    const text = params.get(name) ?? '';
    const isAllowed = rule instanceof RegExp ? rule.test(text) : rule(text);
    return [name, isAllowed ? text : ''];
  });
  return Object.fromEntries(read) as PageState;
}

/** The query that `readState` reads as this state. */
export function searchOf(state: Partial<PageState>): string {
  const params = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== ''));
  // Allowed in a query, and easier to read as it is.
  return params.size === 0 ? '' : `?${params}`.replaceAll('%40', '@');
}

function isUpTo(highest: number, text: string): boolean {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= highest;
}

/** @param usual the value that is not in an address */
function oneOf(values: readonly string[], usual?: string) {
  return (text: string) => values.includes(text) && text !== usual;
}
