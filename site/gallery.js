import { element } from './dom.js';

/**
 * @typedef {object} ExampleChannel
 * @property {string} channelId
 * @property {string} title
 * @property {string | null} handle
 */

const MAX_WAIT_MS = 20_000;

/**
 * The images of the sample channels are part of the page, so that they cost no requests; a test compares the list with
 * samples/channels.ndjson.
 *
 * @type {Readonly<Record<string, { file: string, hasBanner?: boolean }>>}
 */
export const SAMPLES = {
  UCPennantSample00000001A: { file: 'pennant' },
  UCPennantSample00000002A: { file: 'lantern', hasBanner: false },
  UCPennantSample00000003A: { file: 'saltmarrow' },
  UCPennantSample00000004A: { file: 'fernwick' },
  UCPennantSample00000005A: { file: 'hoehenkamm' },
  UCPennantSample00000006A: { file: 'ninth-tide' },
  UCPennantSample00000007A: { file: 'copper-loop' },
  UCPennantSample00000008A: { file: 'nightglass' },
};

/**
 * Channels of the instance, each a link.
 *
 * @param {HTMLElement} list
 * @param {object} deps
 * @param {() => readonly ExampleChannel[]} deps.channels
 * @param {(handle: string) => string} deps.addressOf the page's address for a channel
 * @param {(handle: string) => void} deps.onChoose
 */
export function createGallery(list, { channels, addressOf, onChoose }) {
  /** @param {ExampleChannel} channel */
  function card({ channelId, title, handle }) {
    const name = handle ?? channelId;
    const sample = SAMPLES[channelId];
    const link = element(
      'a',
      { class: 'sample', href: addressOf(name) },
      ...(sample === undefined ? [] : images(sample)),
      element(
        'span',
        { class: 'sample-text' },
        element('b', {}, title),
        element('span', { class: 'sample-handle' }, name),
      ),
    );
    link.addEventListener('click', (event) => {
      // Other clicks open a tab or a window.
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      onChoose(name);
    });
    return element('li', {}, link);
  }

  return {
    /** Writes the links again, because another instance is asked. */
    update() {
      list.replaceChildren(...channels().map(card));
    },
  };
}

/**
 * Some channels of the instance that the page belongs to; none if the page is on another web host.
 *
 * @returns {Promise<readonly ExampleChannel[]>}
 */
export async function loadChannels() {
  try {
    const response = await fetch('channels.json', { signal: AbortSignal.timeout(MAX_WAIT_MS) });
    return response.ok ? (await response.json()).channels : [];
  } catch {
    // No response in time, or a page: some hosts respond with one to every path.
    return [];
  }
}

/** @param {{ file: string, hasBanner?: boolean }} sample */
function images({ file, hasBanner = true }) {
  const banner = hasBanner ? image(`gallery/${file}.webp`, 560, 315) : 'No banner';
  return [
    element('span', { class: 'sample-banner' }, banner),
    element('span', { class: 'sample-face' }, image(`gallery/${file}-avatar.webp`, 96, 96)),
  ];
}

/**
 * @param {string} src
 * @param {number} width
 * @param {number} height
 */
function image(src, width, height) {
  return element('img', { src, width, height, alt: '', loading: 'lazy' });
}
