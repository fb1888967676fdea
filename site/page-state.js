import { FORMATS, VARIANTS } from './images.js';

/**
 * @typedef {import('./images.js').Variant} Variant
 * @typedef {import('./images.js').Format} Format
 *
 * @typedef {object} PageState What the page shows. The page's address contains all of it.
 * @property {string} channel a handle, an ID or what somebody typed; empty for the first page
 * @property {Variant | undefined} variant `undefined`: the TV crop, or the avatar of a channel without a banner
 * @property {Format} format
 * @property {string | undefined} width digits; `''` for the image's own; `undefined` for the usual width
 * @property {string} height
 * @property {string} quality
 * @property {string} instance an origin; empty for the one that the page is configured with
 */

const MAX_SIDE = 4096;
const MAX_QUALITY = 100;
/** In an address, an empty value would look like a mistake. */
const OWN_SIZE = 'auto';

/** A new channel starts with these choices. */
export const USUAL_CHOICE = Object.freeze({
  variant: undefined,
  format: /** @type {const} */ ('auto'),
  width: undefined,
  height: '',
  quality: '',
});

/**
 * Reads the page's address. Values that the page could not have written are ignored.
 *
 * @param {string} href
 * @returns {PageState}
 */
export function readState(href) {
  const { searchParams: params, hash } = new URL(href);
  const width = params.get('width');
  return {
    channel: params.get('channel') ?? decode(hash.slice(1)),
    variant: VARIANTS.find(({ variant }) => variant === params.get('variant'))?.variant,
    format: FORMATS.find(({ format }) => format === params.get('format'))?.format ?? 'auto',
    width: width === OWN_SIZE ? '' : numberUpTo(MAX_SIDE, width) || undefined,
    height: numberUpTo(MAX_SIDE, params.get('height')),
    quality: numberUpTo(MAX_QUALITY, params.get('quality')),
    instance: params.get('instance') ?? '',
  };
}

/**
 * The address that `readState` reads as this state; usual values are left out.
 *
 * @param {PageState} state
 * @param {string} href of the page now
 */
export function addressOf({ channel, variant, format, width, height, quality, instance }, href) {
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
    instance,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, value);
  }
  // Both are allowed in a query and are easier to read as they are.
  url.search = url.search.replaceAll('%40', '@').replaceAll('%3A%2F%2F', '://');
  return url.href;
}

/**
 * @param {number} highest
 * @param {string | null} text
 */
function numberUpTo(highest, text) {
  return text !== null && /^[1-9]\d{0,3}$/.test(text) && Number(text) <= highest ? text : '';
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
