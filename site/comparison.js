import { Problem } from './api.js';
import { element } from './dom.js';
import { BROWSER_ACCEPT, FORMATS, imageUrl, throughInstance } from './images.js';
import { formatBytes } from './numbers.js';
import { pauseFor, waitForBudget } from './patience.js';

/**
 * @typedef {import('./images.js').ChannelRecord} ChannelRecord
 * @typedef {import('./images.js').ImageChoice} ImageChoice
 * @typedef {{ record: ChannelRecord, choice: ImageChoice }} Compared
 */

const COMPARED = FORMATS.filter(({ format }) => format !== 'auto');

/**
 * The chosen image in every format, side by side. It costs a request for each format, so it starts on demand.
 *
 * @param {HTMLElement} container
 * @param {object} deps
 * @param {ReturnType<typeof import('./api.js').createApi>} deps.api
 * @param {import('./budget.js').Budget} deps.budget
 * @param {() => string} deps.instance
 */
export function createComparison(container, { api, budget, instance }) {
  let isComparing = false;
  const start = element('button', { type: 'button', onclick: () => (isComparing ? clear() : void compare()) });
  const hint = element('p', { class: 'hint' }, `Loads the image in ${COMPARED.length} formats: one request each.`);
  const list = element('ul', { class: 'formats', hidden: true });
  const status = element('p', { class: 'visually-hidden', role: 'status' });
  container.replaceChildren(element('div', { class: 'comparison-bar' }, start, hint), list, status);
  /** @type {Compared | undefined} */
  let compared;
  let comparing = new AbortController();
  /** @type {string[]} */
  let objectUrls = [];
  setComparing(false);

  /** @param {boolean} isNow */
  function setComparing(isNow) {
    isComparing = isNow;
    start.textContent = isNow ? 'Cancel' : 'Compare formats';
  }

  function clear() {
    comparing.abort();
    for (const url of objectUrls) URL.revokeObjectURL(url);
    objectUrls = [];
    list.replaceChildren();
    list.hidden = true;
    status.textContent = '';
    setComparing(false);
  }

  async function compare() {
    if (compared === undefined) return;
    clear();
    comparing = new AbortController();
    const { signal } = comparing;
    const { record, choice } = compared;
    setComparing(true);
    status.textContent = 'Loading the formats.';
    const rows = COMPARED.map(({ format, label }) => ({ format, row: createRow(label) }));
    list.replaceChildren(...rows.map(({ row }) => row.item));
    list.hidden = false;
    /** @type {{ row: ReturnType<typeof createRow>, bytes: number }[]} */
    const loaded = [];
    for (const { format, row } of rows) {
      const bytes = await loadInto(row, imageUrl(record, { ...choice, format }) ?? '', signal);
      if (signal.aborted) return;
      if (bytes > 0) loaded.push({ row, bytes });
      const most = Math.max(...loaded.map((each) => each.bytes));
      for (const each of loaded) each.row.setShare(each.bytes / most);
    }
    setComparing(false);
    status.textContent = 'All formats are loaded.';
  }

  /**
   * @param {ReturnType<typeof createRow>} row
   * @param {string} url
   * @param {AbortSignal} signal
   * @returns {Promise<number>} the image's bytes; 0 if there is none
   */
  async function loadInto(row, url, signal) {
    try {
      const { body } = await api.get(throughInstance(instance(), url), {
        accept: BROWSER_ACCEPT,
        signal,
        beforeSend: () =>
          waitForBudget(budget, (ms) => {
            row.setText('waits for the rate limit');
            return pauseFor(ms, signal);
          }),
      });
      const shown = URL.createObjectURL(body);
      objectUrls.push(shown);
      row.setImage(shown, body.size);
      return body.size;
    } catch (error) {
      if (signal.aborted) return 0;
      if (!(error instanceof Problem)) throw error;
      row.setText(error.message);
      return 0;
    }
  }

  return {
    /**
     * Forgets the former comparison if the image is another one.
     *
     * @param {Compared | undefined} shown `undefined`: there is no image
     */
    show(shown) {
      const isSame =
        shown?.record === compared?.record && JSON.stringify(shown?.choice) === JSON.stringify(compared?.choice);
      compared = shown;
      container.hidden = shown === undefined;
      if (!isSame) clear();
    },
  };
}

/** @param {string} label */
function createRow(label) {
  const frame = element('div', { class: 'format-image' });
  const text = element('span', { class: 'number' }, 'loading');
  const fill = element('i', {});
  const bar = element('span', { class: 'format-bar', 'aria-hidden': 'true' }, fill);
  const item = element('li', {}, frame, element('p', {}, element('b', {}, label), text), bar);
  return {
    item,
    /** @param {string} words */
    setText(words) {
      text.textContent = words;
    },
    /**
     * @param {string} url
     * @param {number} bytes
     */
    setImage(url, bytes) {
      frame.replaceChildren(element('img', { src: url, alt: '' }));
      text.textContent = formatBytes(bytes);
    },
    /** @param {number} share of the largest format, 0 to 1 */
    setShare(share) {
      fill.style.width = `${share * 100}%`;
    },
  };
}
