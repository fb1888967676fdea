import { createApi, Problem } from './api.js';
import { createBudget } from './budget.js';
import { createBudgetMeter } from './budget-meter.js';
import { element, find } from './dom.js';
import { identify } from './identify.js';
import { createInstance } from './instance.js';
import { createNotice } from './notice.js';
import { pauseFor, RESERVE, waitForBudget, whenSeen } from './patience.js';
import { createPicturePanel } from './picture-panel.js';
import { BROWSER_ACCEPT, throughInstance } from './pictures.js';
import { createRecordView } from './record-view.js';
import { createSearchBox } from './search-box.js';
import { createShelf } from './shelf.js';

/** @typedef {import('./pictures.js').ChannelRecord} ChannelRecord */

/** A look-up takes up to three requests: record, banner, avatar. */
const LOOKUP_REQUESTS = 3;
const SUGGESTIONS = 8;
const AVATAR_WIDTH = 176;

const budget = createBudget(() => performance.now());
const meter = createBudgetMeter(find('#budget', HTMLElement), budget);
const api = createApi({ budget, onBudgetChange: () => meter.update() });
const instance = await createInstance({ onChange: () => lookUpAddress() });
const notice = createNotice(find('#notice', HTMLElement));
const shelfElement = find('#shelf', HTMLElement);
const result = find('#result', HTMLElement);
const recordView = createRecordView(find('#record', HTMLElement));
const shelf = createShelf(shelfElement, { onChoose: (variant) => panel.choose(variant) });
const panel = createPicturePanel(find('.picture', HTMLElement), {
  api,
  budget,
  instance: instance.origin,
  onVariant: (variant) => shelf.choose(variant),
  onPicture({ variant, url, isWhole, hasWantedWidth }) {
    // A banner that is too small for the wanted width may also have another shape, and cuts of it would be wrong.
    if (isWhole) shelf.showPicture(variant, url, hasWantedWidth);
  },
});
const searchBox = createSearchBox(find('#lookup', HTMLFormElement), { search, onSubmit: (text) => void lookUp(text) });
let lookingUp = new AbortController();

/**
 * Suggestions while somebody types: left out when a look-up could not follow.
 *
 * @param {string} text
 * @param {AbortSignal} signal
 */
async function search(text, signal) {
  if (instance.origin() === '' || budget.waitMs(RESERVE + LOOKUP_REQUESTS) > 0) return [];
  try {
    const url = `${instance.origin()}/api/search?q=${encodeURIComponent(text.slice(0, 100))}&limit=${SUGGESTIONS}`;
    return (await api.getJson(url, { signal })).results;
  } catch (error) {
    if (!signal.aborted && error instanceof Problem) notice.explain(error, () => searchBox.focus());
    return [];
  }
}

/** @param {string} text */
async function lookUp(text) {
  lookingUp.abort();
  lookingUp = new AbortController();
  const { signal } = lookingUp;
  notice.clear();
  if (text.trim() === '') return searchBox.focus();
  if (instance.origin() === '') {
    notice.say('Enter the address of an instance in the field at the top.');
    return instance.focus();
  }
  const named = identify(text);
  if (named === undefined) return suggest(text, signal);
  try {
    await waitForBudget(budget, (ms) => notice.wait(ms, 'Look up', signal));
    const record = await api.getJson(`${instance.origin()}${named.path}`, { signal });
    if (!signal.aborted) show(record, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    const searchInstead = element(
      'button',
      { type: 'button', onclick: () => void suggest(text, signal) },
      'Search for it',
    );
    const isName = named.kind === 'name' && error.code === 'channel_not_found';
    notice.explain(error, () => void lookUp(text), ...(isName ? [searchInstead] : []));
  }
}

/**
 * A text that names no channel: offers the search results, and selects none of them.
 *
 * @param {string} text
 * @param {AbortSignal} signal
 */
async function suggest(text, signal) {
  notice.clear();
  const hits = await search(text, signal);
  if (signal.aborted) return;
  searchBox.offer(hits);
  if (hits.length === 0) notice.say(`Nothing found for “${text}”.`);
}

/**
 * @param {ChannelRecord} record
 * @param {AbortSignal} signal
 */
function show(record, signal) {
  history.replaceState(null, '', `#${record.customUrl ?? record.channelId}`);
  document.title = `${record.title} · Pennant playground`;
  result.hidden = false;
  shelf.show(record);
  recordView.show(record);
  panel.show(record);
  whenSeen(shelfElement, signal, () => {
    void panel.load();
    void loadAvatar(record, signal);
  });
}

/**
 * @param {ChannelRecord} record
 * @param {AbortSignal} signal
 */
async function loadAvatar({ avatarUrl }, signal) {
  if (avatarUrl === null) return;
  const url = new URL(avatarUrl);
  url.searchParams.set('width', String(AVATAR_WIDTH));
  try {
    await waitForBudget(budget, (ms) => pauseFor(ms, signal));
    const { body } = await api.get(throughInstance(instance.origin(), url.href), { accept: BROWSER_ACCEPT, signal });
    const shown = URL.createObjectURL(body);
    shelf.showAvatar(shown);
    recordView.showAvatar(shown);
  } catch (error) {
    // The page works without it, and the picture panel shows the error.
    if (!signal.aborted && !(error instanceof Problem)) throw error;
  }
}

function lookUpAddress() {
  const text = decodeHash();
  if (text === '') return;
  searchBox.setText(text);
  void lookUp(text);
}

function decodeHash() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

for (const button of document.querySelectorAll('[data-example]')) {
  button.addEventListener('click', () => {
    const text = button.getAttribute('data-example') ?? '';
    searchBox.setText(text);
    searchBox.focus();
    void lookUp(text);
  });
}
addEventListener('hashchange', lookUpAddress);
lookUpAddress();
