import { type JsonObject, parseJsonObject } from '../../lib/json.ts';
import { textWithin } from '../foreign-texts.ts';
import { firstAt, valuesAt, valuesNamed, walk } from '../json.ts';
import { parseChannelId } from '../youtube-urls.ts';
import { ofPage, type Reading, readObjects, unambiguous, valueIn } from './readings.ts';
import { textOf } from './texts.ts';

/** `var ytInitialData = {…};</script>`, also as a member of `window` (2019 to 2026-09). */
const DATA_START = /\bytInitialData(?:["']\])?\s{0,2}=\s{0,2}(?=\{)/;
const DATA_END = '</script>';

/** The data of a page of YouTube, which is a response of the API; `undefined` if there is none. */
export function readInitialData(html: Uint8Array): JsonObject | undefined {
  const text = new TextDecoder().decode(html);
  const start = DATA_START.exec(text);
  if (start === null) return undefined;
  const from = start.index + start[0].length;
  // YouTube escapes "<" in texts.
  const end = text.indexOf(DATA_END, from);
  const script = text.slice(from, end === -1 ? undefined : end).trimEnd();
  return parseJsonObject(Buffer.from(script.endsWith(';') ? script.slice(0, -1) : script));
}

export type PageReading = ReturnType<typeof readPage>;

const REDIRECT = 'onResponseReceivedActions.*.navigateAction.endpoint';

/** The content of a channel page: plain data of bounded size. */
export function readPage(page: JsonObject, requestedId: string) {
  const readings = ofPage(requestedId, readObjects(page));
  const textsAt = (path: string) => valuesAt(page, `${REDIRECT}.${path}`).map((text) => textWithin(text, 'url') ?? '');
  const urls = textsAt('urlEndpoint.url');
  const targets = [...textsAt('browseEndpoint.browseId'), ...urls].map(parseChannelId);
  const channelIds = [...targets, valueIn('channelId', ...readings)];
  return {
    /** The objects of one channel. */
    readings,
    /** Another channel than the requested one, to which YouTube redirects, or whose page this is. */
    redirectId: channelIds.find((channelId) => channelId !== undefined && channelId !== requestedId),
    /** The URL or path of a redirect that names no channel ID, such as `/@handle`. */
    redirectUrl: urls.find((url) => url !== '' && parseChannelId(url) === undefined),
    /** The text of its error alert, `""` for one without a text; `undefined` when there is none. */
    alert: findAlertText(page),
    /** Leads to the About panel. */
    aboutToken: findAboutToken(page),
  };
}

/** The About data in a response to an About token, or in a page. */
export function readAbout(response: JsonObject): Reading[] {
  return unambiguous(readObjects(response).filter(({ part }) => part === 'about'));
}

/** Endpoints that lead to a video, a short or a playlist. */
const VIDEO_ENDPOINTS = ['watchEndpoint', 'reelWatchEndpoint', 'watchPlaylistEndpoint'];

/** The target of a page address: a page of the site, or another address. */
export function readEndpoint(body: JsonObject) {
  const endpoint = firstAt(body, 'endpoint');
  return {
    isVideo: VIDEO_ENDPOINTS.some((name) => firstAt(endpoint, name) !== undefined),
    browseId: textWithin(firstAt(endpoint, 'browseEndpoint.browseId'), 'url'),
    target: textWithin(firstAt(endpoint, 'urlEndpoint.url'), 'url'),
  };
}

/**
 * Finds the About token in the header of a channel page. Panels elsewhere on the page belong to shelves ("Featured
 * Channels"). All panels of the header are the same.
 */
function findAboutToken(page: JsonObject): string | undefined {
  const panels = valuesNamed(firstAt(page, 'header'), 'showEngagementPanelEndpoint');
  const tokens = valuesNamed(valuesNamed(panels, 'continuationCommand'), 'token');
  return tokens.map((token) => textWithin(token, 'token')).find(Boolean);
}

/** The longest known alert has 140 characters. */
const MAX_ALERT_CHARACTERS = 500;

function findAlertText(page: JsonObject): string | undefined {
  let alert: object | undefined;
  walk(firstAt(page, 'alerts'), (value, name = '') => {
    const type = firstAt(value, 'type');
    const isError = /^alert\w*(?:Renderer|ViewModel)$/.test(name) && typeof type === 'string' && type.endsWith('ERROR');
    if (isError) alert ??= value;
    return alert === undefined;
  });
  return alert === undefined ? undefined : (textOf(firstAt(alert, 'text')) ?? '').slice(0, MAX_ALERT_CHARACTERS);
}
