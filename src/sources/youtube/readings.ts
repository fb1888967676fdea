import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { commonTextOf, firstAt, valuesAt, valuesNamed, walk } from '../json.ts';
import { textWithin } from '../text-limits.ts';
import { parseChannelId } from '../youtube-urls.ts';
import { type FieldReadings, ofOneChannel, readFields } from './fields.ts';
import { createFinder, type Find, findContinuationToken } from './kinds.ts';
import * as layouts from './layouts.ts';
import { textOf } from './texts.ts';

/** The content of a channel page: plain data of bounded size. */
export interface PageReading extends FieldReadings {
  /** True for every channel but system channels, games' topic channels and age gates. Such a page has About data. */
  readonly isOrdinary: boolean;
  readonly hasHeader: boolean;
  /** True if the page names another interface language than English. */
  readonly isForeign: boolean;
  /** Other channels to which upstream redirects. */
  readonly redirects: readonly string[];
  /** The URL or path of a redirect that names no channel ID, such as `/@handle`. */
  readonly redirectUrl: string | undefined;
  /** The text of its error alert, `""` for one without a text; `undefined` when there is none. */
  readonly alert: string | undefined;
  /** Leads to the About panel. */
  readonly aboutToken: string | undefined;
  /** Where the values of the panel are, if not in a response of its own: on this page, or on a tab that must be loaded. */
  readonly aboutTab: 'here' | 'elsewhere' | undefined;
}

export function readPage(page: JsonObject): PageReading {
  const find = createFinder({ page });
  const { fields, signs } = readFields(find);
  return {
    fields: ofOneChannel(fields),
    signs,
    isOrdinary: isOrdinary(find),
    hasHeader: HEADERS.flatMap(find).some(isJsonObject),
    isForeign: isForeign(page, find),
    redirects: findRedirects(page),
    redirectUrl: findRedirectUrl(page),
    alert: findAlertText(page),
    aboutToken: findAboutToken(page),
    aboutTab: findAboutTab(find),
  };
}

/** The content of a response to an About token. */
export function readPanel(about: JsonObject) {
  const find = createFinder({ about });
  return { ...readFields(find), hasPanel: find(layouts.ABOUT_PANEL).some(isJsonObject) };
}

/** An ordinary page whose metadata are lost has a microformat, which system channels lack, and a page header, which games lack. */
function isOrdinary(find: Find): boolean {
  const has = (path: string) => find(path).some(isJsonObject);
  const hasNames = has(layouts.METADATA) || (has(layouts.MICROFORMAT) && has(layouts.PAGE_HEADER));
  return hasNames && find(layouts.CAROUSEL_DETAILS).length === 0;
}

/** Endpoints that lead to a video, a short or a playlist. */
const VIDEO_ENDPOINTS = ['watchEndpoint', 'reelWatchEndpoint', 'watchPlaylistEndpoint'];

/** The target of a page address: a page of the site, or another address. */
export function readEndpoint(body: JsonObject) {
  const endpoint = firstAt(body, 'endpoint');
  return {
    isVideo: VIDEO_ENDPOINTS.some((name) => firstAt(endpoint, name) !== undefined),
    browseId: commonTextOf(valuesNamed(endpoint, 'browseId').map((id) => textWithin(id, 'url'))),
    target: textWithin(firstAt(endpoint, 'urlEndpoint.url'), 'url'),
  };
}

const HEADERS = [layouts.PAGE_HEADER, layouts.C4_HEADER, layouts.INTERACTIVE_HEADER];

/** Enough to find one that differs from the requested ID. */
const MAX_REDIRECTS_READ = 2;

const REDIRECT = 'onResponseReceivedActions.*.navigateAction.endpoint';

function findRedirects(page: JsonObject): string[] {
  const endpoints = valuesAt(page, REDIRECT);
  const targets = endpoints.flatMap((endpoint) => TARGETS.flatMap((path) => valuesAt(endpoint, path)));
  const channelIds = targets.map((target) => parseChannelId(textWithin(target, 'url') ?? ''));
  return [...new Set(channelIds.filter((id) => id !== undefined))].slice(0, MAX_REDIRECTS_READ);
}

function findRedirectUrl(page: JsonObject): string | undefined {
  const urls = valuesAt(page, `${REDIRECT}.urlEndpoint.url`).map((url) => textWithin(url, 'url'));
  return urls.find((url) => url !== undefined && parseChannelId(url) === undefined);
}

const TARGETS = ['browseEndpoint.browseId', 'urlEndpoint.url'];

function findAboutTab(find: Find): PageReading['aboutTab'] {
  if ([layouts.HTML_PANEL, layouts.ABOUT_TAB].flatMap(find).some(isJsonObject)) return 'here';
  // Headers from before the panel, and those of games' "Topic" channels, which kept their tab (seen 2026-07).
  const headers = [layouts.C4_HEADER, layouts.INTERACTIVE_HEADER].flatMap(find);
  return headers.length > 0 ? 'elsewhere' : undefined;
}

const SIGN_IN = 'https://accounts.google.com/ServiceLogin?';

/** The field mask removes the language itself, but the sign-in links in the header contain it. */
function isForeign(page: JsonObject, find: Find): boolean {
  const signIns = valuesNamed(firstAt(page, 'header'), 'url').filter((url) =>
    textWithin(url, 'url')?.startsWith(SIGN_IN),
  );
  const linked = signIns.slice(0, MAX_SIGN_INS).map((url) => URL.parse(String(url))?.searchParams.get('hl'));
  const language = textWithin(find(layouts.LANGUAGE)[0], 'language') ?? linked.find(Boolean);
  return language !== undefined && language !== null && !/^en(?:[-_]|$)/i.test(language);
}

/** Headers have two. */
const MAX_SIGN_INS = 100;

/**
 * Finds the About token in the header of a channel page. Panels elsewhere on the page belong to shelves ("Featured
 * Channels"). All panels of the header are the same.
 */
function findAboutToken(page: JsonObject): string | undefined {
  const panels = valuesNamed(firstAt(page, 'header'), 'showEngagementPanelEndpoint');
  return textWithin(findContinuationToken(panels), 'token');
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
