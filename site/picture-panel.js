import { Problem } from './api.js';
import { createComparison } from './comparison.js';
import { element, find } from './dom.js';
import { createNotice } from './notice.js';
import { formatBytes, formatDuration } from './numbers.js';
import { waitForBudget } from './patience.js';
import { createPictureOptions } from './picture-options.js';
import { pictureSnippets } from './picture-snippets.js';
import { altOf, BROWSER_ACCEPT, pictureUrl, throughInstance, VARIANTS } from './pictures.js';
import { createSnippetBox } from './snippet-box.js';

/**
 * @typedef {import('./pictures.js').ChannelRecord} ChannelRecord
 * @typedef {import('./pictures.js').PictureChoice} PictureChoice
 * @typedef {import('./pictures.js').Variant} Variant
 * @typedef {object} ShownPicture
 * @property {PictureChoice} choice
 * @property {string} url of the bytes in this page
 * @property {number} width in pixels
 */

/**
 * Variant, format and size, the instance's picture for them, and the snippets.
 *
 * @param {HTMLElement} root
 * @param {object} deps
 * @param {ReturnType<typeof import('./api.js').createApi>} deps.api
 * @param {import('./budget.js').Budget} deps.budget
 * @param {() => string} deps.instance
 * @param {(choice: PictureChoice, isTyped: boolean) => void} deps.onChoice
 * @param {(picture: ShownPicture) => void} deps.onPicture
 */
export function createPicturePanel(root, { api, budget, instance, onChoice, onPicture }) {
  const preview = find('#preview', HTMLImageElement, root);
  const figure = find('.preview', HTMLElement, root);
  const facts = find('#facts', HTMLElement, root);
  const download = find('#download', HTMLAnchorElement, root);
  const snippetArea = find('#picture-snippets', HTMLElement, root);
  const notice = createNotice(find('#picture-notice', HTMLElement, root));
  /** @type {ReturnType<typeof createSnippetBox<import('./picture-snippets.js').PictureSnippetInput>>} */
  const snippets = createSnippetBox(snippetArea, { id: 'picture-snippet', label: 'Copy the picture as' });
  const comparison = createComparison(find('#comparison', HTMLElement, root), { api, budget, instance });
  const options = createPictureOptions(find('#options', HTMLFormElement, root), {
    onChange(isTyped) {
      onChoice(options.choice(), isTyped);
      void load();
    },
    onInvalid: () => notice.say('Width and height are whole numbers from 1 to 4096, quality from 1 to 100.'),
  });
  /** @type {ChannelRecord | undefined} */
  let record;
  /** @type {string[]} */
  let objectUrls = [];
  let loading = new AbortController();

  /** @param {{ width: number, height: number } | undefined} size */
  function writeSnippets(size) {
    if (record === undefined) return;
    const choice = options.choice();
    const shown = record;
    const hasPicture = pictureUrl(shown, choice) !== undefined;
    snippetArea.hidden = !hasPicture;
    comparison.show(hasPicture ? { record: shown, choice } : undefined);
    if (!hasPicture) return;
    snippets.show(pictureSnippets(choice.variant), {
      choice,
      urlOf: (changes) => pictureUrl(shown, { ...choice, ...changes }) ?? '',
      alt: altOf(shown, choice.variant),
      size,
    });
  }

  /** Removes what belongs to the previous picture. */
  function clearPicture() {
    preview.hidden = true;
    preview.removeAttribute('src');
    preview.alt = '';
    facts.replaceChildren();
    download.hidden = true;
  }

  async function load() {
    if (record === undefined) return;
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    const choice = options.choice();
    const publicUrl = pictureUrl(record, choice);
    notice.clear();
    writeSnippets(undefined);
    if (publicUrl === undefined) {
      clearPicture();
      const isBare = Object.values(record.bannerUrls).every((url) => url === null);
      notice.say(isBare ? 'This channel has no banner and no avatar.' : `This channel has no ${nounOf(choice)}.`);
      return;
    }
    startLoading(choice);
    try {
      const answer = await api.get(throughInstance(instance(), publicUrl), {
        accept: BROWSER_ACCEPT,
        signal,
        async beforeSend() {
          await waitForBudget(budget, (ms) => notice.wait(ms, 'Load', signal));
          startLoading(choice);
        },
      });
      await showAnswer(answer, choice, signal);
      if (!signal.aborted) notice.clear();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      clearPicture();
      notice.explain(error, () => void load());
    } finally {
      if (!signal.aborted) figure.classList.remove('is-loading');
    }
  }

  /** @param {PictureChoice} choice */
  function startLoading({ variant }) {
    const label = VARIANTS.find((each) => each.variant === variant)?.label;
    notice.busy(`Loading the picture: ${label}.`);
    figure.classList.add('is-loading');
  }

  /**
   * @param {import('./api.js').Answer} answer
   * @param {PictureChoice} choice
   * @param {AbortSignal} signal
   */
  async function showAnswer({ headers, body, durationMs, isFromBrowser }, choice, signal) {
    const url = URL.createObjectURL(body);
    objectUrls.push(url);
    preview.src = url;
    // Rejects when the next picture replaces this one.
    const isDecoded = await preview.decode().then(
      () => true,
      () => false,
    );
    if (signal.aborted || record === undefined) return;
    if (!isDecoded) {
      throw new Problem({ status: 200, code: 'unreadable', detail: 'This browser cannot show the picture.' });
    }
    preview.hidden = false;
    preview.alt = altOf(record, choice.variant);
    const size = { width: preview.naturalWidth, height: preview.naturalHeight };
    const format = body.type.replace('image/', '').toUpperCase();
    facts.replaceChildren(
      fact('Size', `${size.width} × ${size.height}`),
      fact('Format', format === 'WEBP' ? 'WebP' : format),
      fact('Bytes', formatBytes(body.size)),
      fact('Time', isFromBrowser ? 'from this browser' : formatDuration(durationMs)),
      fact('Cache', cacheWord(headers.get('cache-status'))),
    );
    download.href = url;
    download.download = `${record.channelId}-${choice.variant}.${body.type === 'image/jpeg' ? 'jpg' : body.type.slice(6)}`;
    download.hidden = false;
    writeSnippets(size);
    onPicture({ choice, url, width: size.width });
  }

  return {
    /**
     * Shows another channel with this choice; `load` requests the picture.
     *
     * @param {ChannelRecord} shown
     * @param {PictureChoice} choice
     */
    show(shown, choice) {
      loading.abort();
      figure.classList.remove('is-loading');
      for (const url of objectUrls) URL.revokeObjectURL(url);
      objectUrls = [];
      record = shown;
      notice.clear();
      clearPicture();
      options.show(shown, choice);
      writeSnippets(undefined);
    },

    load,

    /**
     * Shows another choice of the same channel.
     *
     * @param {PictureChoice} choice
     */
    apply(choice) {
      if (record === undefined) return;
      options.show(record, choice);
      void load();
    },

    choose: options.choose,
    choice: options.choice,
  };
}

/** @param {PictureChoice} choice */
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
