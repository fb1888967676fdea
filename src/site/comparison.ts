import { Problem, type RequestDeps } from './api.ts';
import { element } from './dom.ts';
import { type ChannelRecord, FORMAT_CHOICES, type ImageChoice, imageUrl } from './image-choice.ts';
import { loadImage } from './load-image.ts';
import { formatBytes } from './numbers.ts';
import { pauseFor, waitForBudget } from './patience.ts';

interface Compared {
  readonly record: ChannelRecord;
  readonly choice: ImageChoice;
}

const COMPARED = FORMAT_CHOICES.filter(({ format }) => format !== 'auto');

/** The chosen image in every format, side by side. It costs a request for each format, so it starts on demand. */
export function createComparison(container: HTMLElement, deps: RequestDeps) {
  let isComparing = false;
  const start = element('button', { type: 'button', onclick: () => (isComparing ? clear() : void compare()) });
  const hint = element('p', { class: 'hint' }, `Loads the image in ${COMPARED.length} formats: one request each.`);
  const list = element('ul', { class: 'formats', hidden: true });
  const status = element('p', { class: 'visually-hidden', role: 'status' });
  container.replaceChildren(element('div', { class: 'comparison-bar' }, start, hint), list, status);
  let compared: Compared | undefined;
  let comparing = new AbortController();
  let objectUrls: string[] = [];
  setComparing(false);

  function setComparing(isNow: boolean) {
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
    const loaded: { row: ReturnType<typeof createRow>; bytes: number }[] = [];
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

  /** @returns the image's bytes; 0 if there is none */
  async function loadInto(row: ReturnType<typeof createRow>, url: string, signal: AbortSignal): Promise<number> {
    try {
      const loaded = await loadImage(deps, url, {
        signal,
        beforeSend: () =>
          waitForBudget(deps.budget, (ms) => {
            row.setText('waits for the rate limit');
            return pauseFor(ms, signal);
          }),
      });
      objectUrls.push(loaded.url);
      row.setImage(loaded.url, loaded.response.body.size);
      return loaded.response.body.size;
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
     * @param shown `undefined`: there is no image
     */
    show(shown: Compared | undefined) {
      const isSame =
        shown?.record === compared?.record && JSON.stringify(shown?.choice) === JSON.stringify(compared?.choice);
      compared = shown;
      container.hidden = shown === undefined;
      if (!isSame) clear();
    },
  };
}

function createRow(label: string) {
  const frame = element('div', { class: 'format-image' });
  const text = element('span', { class: 'number' }, 'loading');
  const fill = element('i', {});
  const bar = element('span', { class: 'format-bar', 'aria-hidden': 'true' }, fill);
  const item = element('li', {}, frame, element('p', {}, element('b', {}, label), text), bar);
  return {
    item,
    setText(words: string) {
      text.textContent = words;
    },
    setImage(url: string, bytes: number) {
      frame.replaceChildren(element('img', { src: url, alt: '' }));
      text.textContent = formatBytes(bytes);
    },
    /** @param share of the largest format, 0 to 1 */
    setShare(share: number) {
      fill.style.width = `${share * 100}%`;
    },
  };
}
