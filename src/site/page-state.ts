import { MAX_SIDE_PX, VARIANTS, type Variant } from '../domain/variants.ts';
import { FORMAT_CHOICES, type ImageChoice } from './image-choice.ts';

/** What the page shows. The page's address contains all of it. */
export interface PageState {
  /** A handle, an ID or what somebody typed; empty for the first page. */
  readonly channel: string;
  /** `undefined`: the TV crop, or the avatar of a channel without a banner. */
  readonly variant: Variant | undefined;
  readonly format: ImageChoice['format'];
  /** Digits; `''` for the image's own; `undefined` for the usual width. */
  readonly width: string | undefined;
  readonly height: string;
  readonly quality: string;
  readonly fit: ImageChoice['fit'];
  readonly background: string;
  /** An origin; empty for the one that the page is configured with. */
  readonly instance: string;
}

const MAX_QUALITY = 100;
const BACKGROUND = /^(?:[\da-f]{3}|[\da-f]{6}|transparent)$/i;
/** The image's own width in an address, where an empty value would look like a mistake. */
const OWN_SIZE = 'auto';

/** A new channel starts with these choices. */
export const USUAL_CHOICE = Object.freeze({
  variant: undefined,
  format: 'auto' as const,
  width: undefined,
  height: '',
  quality: '',
  fit: 'cover' as const,
  background: '',
});

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

/** Reads the page's address. Values that the page could not have written are ignored. */
export function readState(href: string): PageState {
  const { searchParams: params, hash } = new URL(href);
  const width = params.get('width');
  return {
    channel: params.get('channel') ?? decode(hash.slice(1)),
    variant: VARIANTS.find((variant) => variant === params.get('variant')),
    format: FORMAT_CHOICES.find(({ format }) => format === params.get('format'))?.format ?? 'auto',
    width: width === OWN_SIZE ? '' : numberUpTo(MAX_SIDE_PX, width) || undefined,
    height: numberUpTo(MAX_SIDE_PX, params.get('height')),
    quality: numberUpTo(MAX_QUALITY, params.get('quality')),
    fit: params.get('fit') === 'contain' ? 'contain' : 'cover',
    background: BACKGROUND.exec(params.get('background') ?? '')?.[0] ?? '',
    instance: params.get('instance') ?? '',
  };
}

/**
 * The address that `readState` reads as this state; usual values are left out.
 *
 * @param href of the page now
 */
export function addressOf(
  { channel, variant, format, width, height, quality, fit, background, instance }: PageState,
  href: string,
) {
  const url = new URL(href);
  url.hash = '';
  url.search = '';
  const parameters = {
    channel,
    variant,
    format: format === 'auto' ? '' : format,
    width: width === '' ? OWN_SIZE : width,
    height,
    quality,
    fit: fit === 'cover' ? '' : fit,
    background,
    instance,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, value);
  }
  // Both are allowed in a query and are easier to read as they are.
  url.search = url.search.replaceAll('%40', '@').replaceAll('%3A%2F%2F', '://');
  return url.href;
}

function numberUpTo(highest: number, text: string | null) {
  return text !== null && /^[1-9]\d{0,3}$/.test(text) && Number(text) <= highest ? text : '';
}

function decode(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
