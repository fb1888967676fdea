import { createApi, Problem } from './api.ts';
import { createBadge } from './badge.ts';
import { createBudget } from './budget.ts';
import { createBudgetMeter } from './budget-meter.ts';
import { createCopyButton } from './copy.ts';
import { element, find } from './dom.ts';
import { type BundledImages, bundledImages, createGallery, type ExampleChannel, loadChannels } from './gallery.ts';
import { createHero } from './hero.ts';
import { describeFault, identify } from './identify.ts';
import { createImagePanel } from './image-panel.ts';
import { type ChannelRecord, firstVariant, type ImageChoice, usualWidth } from './images.ts';
import { createInstance } from './instance.ts';
import { createLookup } from './lookup.ts';
import { createNotice } from './notice.ts';
import { addressOf, type PageState, readState, USUAL_CHOICE } from './page-state.ts';
import { RESERVE } from './patience.ts';
import { RECORD_SNIPPETS, type RecordSnippetInput } from './record-snippets.ts';
import { createRecordView } from './record-view.ts';
import { createRegion } from './region.ts';
import { createSearchBox } from './search-box.ts';
import { createShelf } from './shelf.ts';
import { createShelfImages } from './shelf-images.ts';
import { createSnippetBox } from './snippet-box.ts';

/** A lookup takes up to three requests: record, banner, avatar. */
const LOOKUP_REQUESTS = 3;

let state = readState(location.href);
const budget = createBudget(() => performance.now());
const meter = createBudgetMeter(find('#budget', HTMLElement), budget);
const api = createApi({ budget, onBudgetChange: () => meter.update(), routeOf: (url) => instance.routeOf(url) });
const intro = find('.intro', HTMLElement);
const galleryElement = find('#gallery', HTMLElement);
const channelElement = find('#channel', HTMLElement);
const result = find('#result', HTMLElement);
const title = find('#channel-title', HTMLElement);
// Before anything is awaited, so that nothing moves later.
showView(state.channel === '' ? 'home' : 'loading');
const loadingChannels = loadChannels();
const instance = await createInstance({
  named: state.instance,
  onChange() {
    budget.forget();
    navigate({ instance: instance.named() });
    showExamples();
    if (state.channel === '') region.end();
    else lookUp();
  },
});
const deps = { api, budget, instance: instance.origin };
const lookup = createLookup(deps);
/** Lookups and searches. */
const region = createRegion({ notice: createNotice(find('#notice', HTMLElement)), budget });
const shelfElement = find('#shelf', HTMLElement);
const handle = find('#channel-handle', HTMLElement);
const face = find('#channel-face', HTMLElement);
const shelfNote = find('#shelf-note', HTMLElement);
const recordView = createRecordView(find('#record', HTMLElement));
const recordSnippets = createSnippetBox<RecordSnippetInput>(find('#record-snippets', HTMLElement), {
  id: 'record-snippet',
  label: 'Copy the record as',
});
const badge = createBadge(find('#badge', HTMLElement), deps);
let channels: readonly ExampleChannel[] = [];
const gallery = createGallery(find('#gallery-list', HTMLElement), {
  channels: examples,
  addressOf: (channel) => addressOf({ ...USUAL_CHOICE, channel, instance: instance.named() }, location.href),
  onChoose: (channel) => open(channel),
});
const hero = createHero(find('#hero', HTMLFormElement), deps);
const shelf = createShelf(shelfElement, { onChoose: (variant) => panel.choose(variant) });
const shelfImages = createShelfImages({
  ...deps,
  shelf,
  element: shelfElement,
  notice: createNotice(find('#shelf-notice', HTMLElement)),
  onAvatar: (url) => face.replaceChildren(element('img', { src: url, alt: '' })),
});
const panel = createImagePanel(find('#image', HTMLElement), {
  ...deps,
  onChoice(choice, isTyped) {
    const { variant, format, width, height, quality, fit, background } = choice;
    const written = width === usualWidth(variant) ? undefined : width;
    navigate({ variant, format, width: written, height, quality, fit, background }, { replace: isTyped });
    shelf.choose(variant);
    shelfImages.panelChanged();
  },
  onImage: shelfImages.use,
});
const searchBox = createSearchBox(find('#lookup', HTMLFormElement), { search, onSubmit: open });
let record: ChannelRecord | undefined;
/** Of the channel, until the instance has sent its images. */
let bundled: BundledImages | undefined;

find('#channel-actions', HTMLElement).append(createCopyButton('Copy link', () => location.href));

/**
 * Writes the state into the page's address.
 *
 * @param options `replace`: Back does not return to the former state
 */
function navigate(changes: Partial<PageState>, { replace = false }: { replace?: boolean } = {}) {
  state = { ...state, ...changes };
  const address = addressOf(state, location.href);
  if (replace || address === location.href) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
}

/** Channels of the instance. Those of another instance than the page's own are unknown. */
function examples() {
  return instance.named() === '' ? channels : [];
}

function showExamples() {
  gallery.update();
  hero.start(examples().find(({ hasBanner }) => hasBanner));
}

function showView(view: 'home' | 'loading' | 'channel') {
  const hadFocus = document.activeElement instanceof HTMLElement && document.activeElement !== document.body;
  document.body.dataset.view = view;
  galleryElement.hidden = view !== 'home';
  channelElement.hidden = view === 'home';
  result.hidden = view !== 'channel';
  channelElement.setAttribute('aria-busy', String(view === 'loading'));
  const isFocusHidden = document.activeElement instanceof HTMLElement && !document.activeElement.checkVisibility();
  if (hadFocus && isFocusHidden) (view === 'home' ? find('#query', HTMLInputElement) : title).focus();
}

/**
 * Suggestions while somebody types. There are none if the budget would not allow a lookup afterwards, or if the search
 * fails: a lookup then says why.
 */
async function search(text: string, signal: AbortSignal) {
  if (instance.origin() === '' || budget.waitMs(RESERVE + LOOKUP_REQUESTS) > 0) return [];
  try {
    return await lookup.findChannels(text, { signal });
  } catch (error) {
    if (!signal.aborted && !(error instanceof Problem)) throw error;
    return [];
  }
}

/** @param text typed, pasted or chosen */
function open(text: string) {
  const channel = text.trim();
  if (channel === '') return searchBox.focus();
  searchBox.setText(channel);
  navigate(channel === state.channel ? {} : { channel, ...USUAL_CHOICE });
  lookUp();
}

/** Shows the channel that the state names. */
function lookUp() {
  const text = state.channel;
  forgetChannel();
  if (instance.origin() === '') {
    showView('home');
    region.say('Enter the address of an instance in the field at the top.');
    return instance.focus();
  }
  const named = identify(text);
  if (named === undefined) return searchFor(text);
  title.textContent = text;
  handle.textContent = 'Loading…';
  const example = examples().find((each) => each.handle === text || each.channelId === text);
  bundled = example === undefined ? undefined : bundledImages(example.channelId);
  showDevices(undefined);
  showView('loading');
  void region.run({
    label: `Looking up ${text}.`,
    verb: 'Look up',
    load: (options) => lookup.findRecord(named, options),
    show(found, signal) {
      if (found === undefined) searchFor(named.value, `There is no channel with the name “${named.value}”. `);
      else showChannel(found, signal);
    },
    fail({ code }) {
      showView('home');
      if (named.kind === 'id' || code !== 'channel_not_found') return [];
      return [element('button', { type: 'button', onclick: () => searchFor(named.value) }, 'Search for it')];
    },
    retry: lookUp,
  });
}

/** Shows the devices before the images of the instance are there. @param record `undefined`: it is being loaded */
function showDevices(record: ChannelRecord | undefined) {
  shelf.show(record, bundled);
  face.replaceChildren(...(bundled === undefined ? [] : [element('img', { src: bundled.avatar, alt: '' })]));
}

function forgetChannel() {
  record = undefined;
  document.title = 'Pennant playground';
  region.end();
  find('#announcements', HTMLElement).textContent = '';
  face.replaceChildren();
  shelfNote.textContent = '';
  shelf.choose(undefined);
}

/** Offers search results for a text that names no channel. @param reason a sentence before them */
function searchFor(text: string, reason = '') {
  showView('home');
  const fault = describeFault(text);
  if (fault !== undefined) return region.say(fault);
  void region.run({
    label: `Searching for “${text}”.`,
    verb: 'Search',
    load: (options) => lookup.findChannels(text, options),
    show(hits) {
      searchBox.offer(hits);
      const found = hits.length === 0 ? `Nothing found for “${text}”.` : 'Choose a channel from the list.';
      region.say(`${reason}${found}`);
    },
    retry: () => searchFor(text, reason),
  });
}

function showChannel(shown: ChannelRecord, signal: AbortSignal) {
  record = shown;
  navigate({ channel: shown.customUrl ?? shown.channelId }, { replace: true });
  document.title = `${shown.title} · Pennant playground`;
  title.textContent = shown.title;
  title.title = shown.title;
  handle.textContent = shown.customUrl ?? shown.channelId;
  const bare = shown.avatarUrl === null ? 'This channel has no banner and no avatar.' : 'This channel has no banner.';
  shelfNote.textContent = shown.bannerUrl === null ? bare : '';
  const choice = chosenFor(shown);
  showDevices(shown);
  shelf.choose(choice.variant);
  panel.show(shown, choice);
  recordView.show(shown);
  const base = baseOf(shown);
  recordSnippets.show(RECORD_SNIPPETS, { record: shown, url: `${base}/api/channel/${shown.channelId}` });
  badge.show(shown, base);
  showView('channel');
  find('#announcements', HTMLElement).textContent = `${shown.title} is shown.`;
  shelfImages.show(shown, choice, signal, () => panel.load());
}

/** The origin that the instance writes in its URLs. */
function baseOf({ bannerUrl, avatarUrl }: ChannelRecord) {
  const url = bannerUrl ?? avatarUrl;
  return url === null ? instance.origin() : new URL(url).origin;
}

/** The choice of the state, with usual values for what it leaves out. */
function chosenFor(shown: ChannelRecord): ImageChoice {
  const { variant: named, format, width, height, quality, fit, background } = state;
  const variant = named !== undefined && shown.bannerUrls[named] !== null ? named : firstVariant(shown);
  return { variant, format, width: width ?? usualWidth(variant), height, quality, fit, background };
}

/** Shows the state of the page's address, after Back, Forward or a load. */
function restore() {
  const former = state;
  state = readState(location.href);
  if (state.instance !== former.instance) {
    budget.forget();
    instance.show(state.instance);
    showExamples();
  }
  searchBox.setText(state.channel);
  if (state.channel === '') {
    forgetChannel();
    return showView('home');
  }
  const isSame = state.channel === former.channel && state.instance === former.instance;
  if (!isSame || record === undefined) return lookUp();
  const choice = chosenFor(record);
  shelf.choose(choice.variant);
  panel.apply(choice);
}

find('#home', HTMLAnchorElement).addEventListener('click', (event) => {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  navigate({ channel: '', ...USUAL_CHOICE });
  restore();
  intro.scrollIntoView({ block: 'nearest' });
});
addEventListener('popstate', restore);
restore();
channels = await loadingChannels;
showExamples();
