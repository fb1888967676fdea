import { Problem } from './api.js';
import { element, find } from './dom.js';
import { createNotice } from './notice.js';
import { formatBytes, formatDuration } from './numbers.js';
import { waitForBudget } from './patience.js';
import { BROWSER_ACCEPT, FORMATS, pictureUrl, throughInstance, VARIANTS } from './pictures.js';
import { createSnippetBox } from './snippet-box.js';

/**
 * @typedef {import('./pictures.js').ChannelRecord} ChannelRecord
 * @typedef {import('./pictures.js').PictureChoice} PictureChoice
 * @typedef {import('./pictures.js').Variant} Variant
 * @typedef {object} ShownPicture
 * @property {Variant} variant
 * @property {string} url of the bytes in this page
 * @property {boolean} isWhole true: the whole variant, scaled
 * @property {boolean} hasWantedWidth false: the original is smaller than what was asked for
 */

const TYPING_PAUSE_MS = 500;

/**
 * Variant, format and size, and what the instance answers to them.
 *
 * @param {HTMLElement} root
 * @param {object} deps
 * @param {ReturnType<typeof import('./api.js').createApi>} deps.api
 * @param {import('./budget.js').Budget} deps.budget
 * @param {() => string} deps.instance
 * @param {(variant: Variant) => void} deps.onVariant
 * @param {(picture: ShownPicture) => void} deps.onPicture
 */
export function createPicturePanel(root, { api, budget, instance, onVariant, onPicture }) {
  const options = find('#options', HTMLFormElement, root);
  const preview = find('#preview', HTMLImageElement, root);
  const figure = find('.preview', HTMLElement, root);
  const facts = find('#facts', HTMLElement, root);
  const download = find('#download', HTMLAnchorElement, root);
  const notice = createNotice(find('#picture-notice', HTMLElement, root));
  const snippets = createSnippetBox(root);
  /** @type {ChannelRecord | undefined} */
  let record;
  /** @type {string[]} */
  let objectUrls = [];
  let loading = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;

  find('#variants', HTMLElement).append(...VARIANTS.map(({ variant, label }) => radio('variant', variant, label)));
  find('#formats', HTMLElement).append(...FORMATS.map(({ format, label }) => radio('format', format, label)));

  options.addEventListener('submit', (event) => event.preventDefault());
  options.addEventListener('input', (event) => {
    const isTyped = event.target instanceof HTMLInputElement && event.target.type === 'number';
    clearTimeout(pause);
    pause = setTimeout(onChange, isTyped ? TYPING_PAUSE_MS : 0);
  });

  /** @returns {PictureChoice} */
  function choice() {
    const values = Object.fromEntries(new FormData(options));
    return /** @type {PictureChoice} */ (/** @type {unknown} */ (values));
  }

  function onChange() {
    if (!options.checkValidity()) {
      notice.say('Width and height are whole numbers from 1 to 4096, quality from 1 to 100.');
      return;
    }
    onVariant(choice().variant);
    void load();
  }

  /** @param {{ width: number, height: number } | undefined} size */
  function writeSnippets(size) {
    if (record === undefined) return;
    const chosen = choice();
    const shown = record;
    const url = pictureUrl(shown, chosen);
    if (url === undefined) return;
    snippets.show({
      url,
      urlOf: (format) => pictureUrl(shown, { ...chosen, format }) ?? url,
      alt: `${chosen.variant === 'avatar' ? 'Avatar' : 'Banner'} of ${shown.title}`,
      size,
    });
  }

  async function load() {
    if (record === undefined) return;
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    const chosen = choice();
    const publicUrl = pictureUrl(record, chosen);
    notice.clear();
    writeSnippets(undefined);
    if (publicUrl === undefined) {
      notice.say(`This channel has no ${chosen.variant === 'avatar' ? 'avatar' : 'banner'}.`);
      return;
    }
    figure.classList.add('is-loading');
    try {
      await waitForBudget(budget, (ms) => notice.wait(ms, 'Load', signal));
      const url = throughInstance(instance(), publicUrl);
      const answer = await api.get(url, { accept: BROWSER_ACCEPT, signal });
      await showAnswer(answer, chosen);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      notice.explain(error, () => void load());
    } finally {
      if (!signal.aborted) figure.classList.remove('is-loading');
    }
  }

  /**
   * @param {import('./api.js').Answer} answer
   * @param {PictureChoice} chosen
   */
  async function showAnswer({ headers, body, durationMs, isFromBrowser }, chosen) {
    const url = URL.createObjectURL(body);
    objectUrls.push(url);
    preview.src = url;
    await preview.decode();
    preview.hidden = false;
    const size = { width: preview.naturalWidth, height: preview.naturalHeight };
    const format = body.type.replace('image/', '').toUpperCase();
    facts.replaceChildren(
      ...fact('Size', `${size.width} × ${size.height}`),
      ...fact('Format', format === 'WEBP' ? 'WebP' : format),
      ...fact('Bytes', formatBytes(body.size)),
      ...fact('Time', isFromBrowser ? 'from the browser cache' : formatDuration(durationMs)),
      ...fact('Served', servedWord(headers.get('cache-status'))),
    );
    download.href = url;
    download.download = `${record?.channelId}-${chosen.variant}.${body.type === 'image/jpeg' ? 'jpg' : body.type.slice(6)}`;
    download.hidden = false;
    writeSnippets(size);
    const { variant, width, height } = chosen;
    onPicture({ variant, url, isWhole: height === '', hasWantedWidth: size.width === Number(width) });
  }

  return {
    /**
     * Begins with the whole banner, or with the avatar where there is none; `load` asks for it.
     *
     * @param {ChannelRecord} shown
     */
    show(shown) {
      loading.abort();
      for (const url of objectUrls) URL.revokeObjectURL(url);
      objectUrls = [];
      record = shown;
      preview.hidden = true;
      preview.removeAttribute('src');
      preview.alt = '';
      facts.replaceChildren();
      download.hidden = true;
      for (const { variant } of VARIANTS) radioOf(variant).disabled = shown.bannerUrls[variant] === null;
      const first = shown.bannerUrl === null ? 'avatar' : 'tv';
      radioOf(first).checked = true;
      onVariant(first);
      writeSnippets(undefined);
    },

    load,

    /** @param {Variant} variant */
    choose(variant) {
      radioOf(variant).checked = true;
      onChange();
    },
  };

  /** @param {Variant} variant */
  function radioOf(variant) {
    return find(`input[name=variant][value=${variant}]`, HTMLInputElement, options);
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} label
 */
function radio(name, value, label) {
  const isDefault = value === 'tv' || value === 'auto';
  return element('label', {}, element('input', { type: 'radio', name, value, checked: isDefault }), label);
}

/**
 * @param {string} label
 * @param {string} value
 */
function fact(label, value) {
  return [element('div', {}, element('dt', {}, label), element('dd', {}, value))];
}

/** @param {string | null} cacheStatus RFC 9211 */
function servedWord(cacheStatus) {
  return /;\s*hit/.test(cacheStatus ?? '') ? 'from the cache' : 'new';
}
