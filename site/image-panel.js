import { Problem } from './api.js';
import { createComparison } from './comparison.js';
import { element, find } from './dom.js';
import { createImageOptions } from './image-options.js';
import { imageSnippets } from './image-snippets.js';
import { altOf, BROWSER_ACCEPT, imageUrl, throughInstance, VARIANTS } from './images.js';
import { createNotice } from './notice.js';
import { formatBytes, formatDuration } from './numbers.js';
import { createRegion } from './region.js';
import { createSnippetBox } from './snippet-box.js';

/**
 * @typedef {import('./images.js').ChannelRecord} ChannelRecord
 * @typedef {import('./images.js').ImageChoice} ImageChoice
 * @typedef {import('./images.js').Variant} Variant
 * @typedef {object} ShownImage
 * @property {ImageChoice} choice
 * @property {string} url of the bytes in this page
 * @property {number} width in pixels
 */

/**
 * Variant, format and size, the instance's image for them, and the snippets.
 *
 * @param {HTMLElement} root
 * @param {object} deps
 * @param {ReturnType<typeof import('./api.js').createApi>} deps.api
 * @param {import('./budget.js').Budget} deps.budget
 * @param {() => string} deps.instance
 * @param {(choice: ImageChoice, isTyped: boolean) => void} deps.onChoice
 * @param {(image: ShownImage) => void} deps.onImage
 */
export function createImagePanel(root, { api, budget, instance, onChoice, onImage }) {
  const preview = find('#preview', HTMLImageElement, root);
  const figure = find('.preview', HTMLElement, root);
  const facts = find('#facts', HTMLElement, root);
  const download = find('#download', HTMLAnchorElement, root);
  const snippetArea = find('#image-snippets', HTMLElement, root);
  const region = createRegion({ notice: createNotice(find('#image-notice', HTMLElement, root)), budget });
  /** @type {ReturnType<typeof createSnippetBox<import('./image-snippets.js').ImageSnippetInput>>} */
  const snippets = createSnippetBox(snippetArea, { id: 'image-snippet', label: 'Copy the image as' });
  const comparison = createComparison(find('#comparison', HTMLElement, root), { api, budget, instance });
  const options = createImageOptions(find('#options', HTMLFormElement, root), {
    onChange(isTyped) {
      onChoice(options.choice(), isTyped);
      load();
    },
    onInvalid: () => region.say('Width and height are whole numbers from 1 to 4096, quality from 1 to 100.'),
  });
  /** @type {ChannelRecord | undefined} */
  let record;
  /** @type {string[]} */
  let objectUrls = [];

  /** @param {{ width: number, height: number } | undefined} size */
  function writeSnippets(size) {
    if (record === undefined) return;
    const choice = options.choice();
    const shown = record;
    const hasImage = imageUrl(shown, choice) !== undefined;
    snippetArea.hidden = !hasImage;
    comparison.show(hasImage ? { record: shown, choice } : undefined);
    if (!hasImage) return;
    snippets.show(imageSnippets(choice.variant), {
      choice,
      urlOf: (changes) => imageUrl(shown, { ...choice, ...changes }) ?? '',
      alt: altOf(shown, choice.variant),
      size,
    });
  }

  /** Removes what belongs to the previous image. */
  function clearImage() {
    figure.classList.remove('is-loading');
    preview.hidden = true;
    preview.removeAttribute('src');
    preview.alt = '';
    facts.replaceChildren();
    download.hidden = true;
  }

  function load() {
    if (record === undefined) return;
    const shown = record;
    const choice = options.choice();
    const publicUrl = imageUrl(shown, choice);
    writeSnippets(undefined);
    if (publicUrl === undefined) {
      clearImage();
      const isBare = Object.values(shown.bannerUrls).every((url) => url === null);
      return region.say(
        isBare ? 'This channel has no banner and no avatar.' : `This channel has no ${nounOf(choice)}.`,
      );
    }
    figure.classList.add('is-loading');
    const label = VARIANTS.find(({ variant }) => variant === choice.variant)?.label;
    void region.run({
      label: `Loading the image: ${label}.`,
      verb: 'Load',
      async load(options) {
        const url = throughInstance(instance(), publicUrl);
        return decode(await api.get(url, { ...options, accept: BROWSER_ACCEPT }));
      },
      show: (decoded) => showImage(shown, choice, decoded),
      fail() {
        clearImage();
        return [];
      },
      retry: load,
    });
  }

  /**
   * @param {ChannelRecord} shown
   * @param {ImageChoice} choice
   * @param {Awaited<ReturnType<typeof decode>>} decoded
   */
  function showImage(shown, choice, { response: { headers, body, durationMs, isFromBrowser }, url, size }) {
    objectUrls.push(url);
    figure.classList.remove('is-loading');
    preview.src = url;
    preview.hidden = false;
    preview.alt = altOf(shown, choice.variant);
    const format = body.type.replace('image/', '').toUpperCase();
    facts.replaceChildren(
      fact('Size', `${size.width} × ${size.height}`),
      fact('Format', format === 'WEBP' ? 'WebP' : format),
      fact('Bytes', formatBytes(body.size)),
      fact('Time', isFromBrowser ? 'from this browser' : formatDuration(durationMs)),
      fact('Cache', cacheWord(headers.get('cache-status'))),
    );
    download.href = url;
    download.download = `${shown.channelId}-${choice.variant}.${body.type === 'image/jpeg' ? 'jpg' : body.type.slice(6)}`;
    download.hidden = false;
    writeSnippets(size);
    onImage({ choice, url, width: size.width });
  }

  return {
    /**
     * Shows another channel with this choice; `load` requests the image.
     *
     * @param {ChannelRecord} shown
     * @param {ImageChoice} choice
     */
    show(shown, choice) {
      region.end();
      for (const url of objectUrls) URL.revokeObjectURL(url);
      objectUrls = [];
      record = shown;
      clearImage();
      options.show(shown, choice);
      writeSnippets(undefined);
    },

    load,

    /**
     * Shows another choice of the same channel.
     *
     * @param {ImageChoice} choice
     */
    apply(choice) {
      if (record === undefined) return;
      options.show(record, choice);
      load();
    },

    choose: options.choose,
    choice: options.choice,
  };
}

/**
 * @param {import('./api.js').Reply} response
 * @returns the URL of the bytes in this page, and their size in pixels; rejects with `Problem`
 */
async function decode(response) {
  const url = URL.createObjectURL(response.body);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    URL.revokeObjectURL(url);
    throw new Problem({ status: 200, code: 'unreadable', detail: 'This browser cannot show the image.' });
  }
  return { response, url, size: { width: image.naturalWidth, height: image.naturalHeight } };
}

/** @param {ImageChoice} choice */
function nounOf({ variant }) {
  return variant === 'avatar' ? 'avatar' : 'banner';
}

/**
 * @param {string} label
 * @param {string} value
 */
function fact(label, value) {
  return element('div', {}, element('dt', {}, label), element('dd', {}, value));
}

/** @param {string | null} cacheStatus RFC 9211 */
function cacheWord(cacheStatus) {
  return /;\s*hit/.test(cacheStatus ?? '') ? 'hit' : 'miss';
}
