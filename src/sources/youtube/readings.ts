import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../../domain/channel.ts';
import { commonValueOf, firstAt, isJsonObject, type JsonObject, valuesAt, valuesNamed, walk } from '../json.ts';
import { MAX_CHARACTERS, textWithin } from '../text-limits.ts';
import { parseChannelId, parseHandle, parseImage } from '../youtube-urls.ts';
import { findCountryCode } from './countries.ts';
import { createFinder, type Find, findContinuationToken, splitPath } from './kinds.ts';
import * as layouts from './layouts.ts';
import { parseLinks } from './links.ts';
import { isPlainCount, parseCount, parseJoinedDate, partsOf, textOf } from './texts.ts';

/** A value of a field in a response, and the path that carried it. */
export interface FieldReading {
  readonly field: keyof Channel;
  readonly path: string;
  readonly value: unknown;
  /** True if the value would be wrong on a page in another language: "1,234 videos" is read as English. */
  readonly isEnglish: boolean;
}

/** What a response says about the fields of a channel. */
export interface FieldReadings {
  readonly fields: readonly FieldReading[];
  /** Fields that have a value in an unknown form. */
  readonly unreadable: readonly (keyof Channel)[];
}

/** The content of a channel page: plain data of bounded size. */
export interface PageReading extends FieldReadings {
  /** True for every channel but system channels, games' topic channels and age gates. Such a page has About data. */
  readonly isOrdinary: boolean;
  readonly hasHeader: boolean;
  /** The interface language (BCP 47), if the page names it. */
  readonly language: string | undefined;
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
  const { fields, unreadable } = readFields(find);
  const isBannerUnread = find(layouts.BANNER).some(isJsonObject) && !fields.some(({ field }) => field === 'banner');
  return {
    fields: ofOneChannel(fields),
    unreadable: isBannerUnread ? [...unreadable, 'banner'] : unreadable,
    isOrdinary: isOrdinary(find),
    hasHeader: HEADERS.flatMap(find).some(isJsonObject),
    language: findLanguage(page, find),
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

/** They lead to a video, a short or a playlist. */
const VIDEO_ENDPOINTS = ['watchEndpoint', 'reelWatchEndpoint', 'watchPlaylistEndpoint'];

/** The target of a page address: a page of the site, or another address. */
export function readEndpoint(body: JsonObject) {
  const endpoint = firstAt(body, 'endpoint');
  return {
    isVideo: VIDEO_ENDPOINTS.some((name) => firstAt(endpoint, name) !== undefined),
    browseId: textWithin(commonValueOf(valuesNamed(endpoint, 'browseId')), 'url'),
    target: textWithin(firstAt(endpoint, 'urlEndpoint.url'), 'url'),
  };
}

/**
 * The readable value of each path.
 *
 * A response has each kind of object once. If there are several with readable values, one may be another channel's: a value
 * is read only if all of them have it.
 */
function readFields(find: Find): FieldReadings {
  const found = layouts.CHANNEL_FIELDS.flatMap((field) =>
    layouts.CHANNEL_LAYOUTS[field].map((path) => ({ field, path, owners: readOwners(field, path, find) })),
  );
  const readable = new Set(
    found.flatMap(({ owners }) => owners.filter(({ values }) => values.length > 0).map(({ owner }) => owner)),
  );
  const fields = found.flatMap(({ field, path, owners }) => {
    const relevant = owners.filter(({ owner }) => readable.has(owner)).map(({ values }) => values);
    const values = relevant.flat();
    const [first] = values;
    const isShared = relevant.every((ofOwner) => ofOwner.length > 0);
    if (first === undefined || !isShared || !values.every(({ value }) => isDeepStrictEqual(value, first.value)))
      return [];
    return { field, path, value: first.value, isEnglish: values.every(({ isEnglish }) => isEnglish) };
  });
  const unread = found.filter(({ owners }) => owners.some(({ isUnreadable }) => isUnreadable));
  return { fields, unreadable: [...new Set(unread.map(({ field }) => field))] };
}

/**
 * The readings without those of parts that name another channel than the metadata.
 *
 * @param found of one response
 */
function ofOneChannel(found: readonly FieldReading[]): FieldReading[] {
  const isIdentity = ({ field }: FieldReading) => field === 'channelId' || field === 'customUrl';
  const named = found.filter((reading) => isIdentity(reading) && reading.path.startsWith(layouts.METADATA));
  const others = found.filter((reading) =>
    named.some(({ field, value }) => isIdentity(reading) && field === reading.field && !isSame(value, reading.value)),
  );
  const otherOwners = new Set(others.map(({ path }) => splitPath(path).owner));
  return found.filter(({ path }) => !otherOwners.has(splitPath(path).owner));
}

/** Handles differ in letter case. */
function isSame(name: unknown, other: unknown): boolean {
  return String(name).toLowerCase() === String(other).toLowerCase();
}

/** Pages have ten texts or images at one path at most. */
const MAX_CANDIDATES = 100;

function readOwners(field: keyof Channel, path: string, find: Find) {
  return find.byOwner(path).map(({ owner, values: all }) => {
    const candidates = all.slice(0, MAX_CANDIDATES);
    const values = candidates
      .map((found) => ({ value: FIELD_READERS[field](found), isEnglish: isReadAsEnglish(field, found) }))
      .filter(({ value }) => value !== undefined)
      // An object lists one image in several sizes, which may have several URLs.
      .slice(0, isImage(field) ? 1 : undefined);
    const isUnreadable = values.length === 0 && isOwnPath(field, path) && candidates.some(isNotBlank);
    return { owner, values, isUnreadable };
  });
}

/** True if whatever is at the path is a value of the field. Header texts may be of other fields, and an address or avatar none. */
function isOwnPath(field: keyof Channel, path: string): boolean {
  const isAbout = [layouts.ABOUT_PANEL, layouts.HTML_PANEL, layouts.ABOUT_TAB].some((part) => path.startsWith(part));
  return field === 'banner' || (isAbout && (isCount(field) || field === 'publishedAt' || field === 'country'));
}

function isNotBlank(found: unknown): boolean {
  return found !== null && textOf(found)?.trim() !== '';
}

/** Converts the raw value at one of a field's paths; `undefined` if it cannot be read. */
const FIELD_READERS: { readonly [Field in keyof Channel]: (value: unknown) => Channel[Field] | undefined } = {
  channelId: (value) => parseText(value, 'url', parseChannelId),
  title: (value) => parseText(value, 'title', (text) => (text.trim() === '' ? undefined : text)),
  description: (value) => textWithin(textOf(value), 'description'),
  customUrl: (value) => parseText(value, 'url', (text) => firstOf(partsOf(text), parseHandle)),
  publishedAt: (value) => parseText(value, 'name', parseJoinedDate),
  country: (value) => parseText(value, 'name', findCountryCode),
  subscriberCount: countReader('subscriberCount'),
  viewCount: countReader('viewCount'),
  videoCount: countReader('videoCount'),
  links: parseLinks,
  banner: (value) => parseImage(textWithin(value, 'url'), 'banner'),
  avatar: (value) => parseImage(textWithin(value, 'url'), 'avatar'),
};

/** True if the raw value is read as English and would be wrong in another language. */
function isReadAsEnglish(field: keyof Channel, found: unknown): boolean {
  if (field === 'publishedAt' || field === 'country') return true;
  const text = isCount(field) ? textOf(found) : undefined;
  return text !== undefined && !isPlainCount(text);
}

function parseText(value: unknown, kind: keyof typeof MAX_CHARACTERS, parse: (text: string) => string | undefined) {
  const text = textWithin(textOf(value), kind);
  return text === undefined ? undefined : parse(text);
}

const COUNT_NOUNS = { subscriberCount: 'subscriber', viewCount: 'view', videoCount: 'video' } as const;

function isCount(field: keyof Channel): field is keyof typeof COUNT_NOUNS {
  return Object.hasOwn(COUNT_NOUNS, field);
}

function isImage(field: keyof Channel): boolean {
  return field === 'banner' || field === 'avatar';
}

function countReader(field: keyof typeof COUNT_NOUNS): (value: unknown) => string | undefined {
  return (value) =>
    parseText(value, 'name', (text) => firstOf(partsOf(text), (part) => parseCount(part, COUNT_NOUNS[field])));
}

function firstOf(parts: readonly string[], parse: (part: string) => string | undefined): string | undefined {
  return parts.map(parse).find((value) => value !== undefined);
}

const HEADERS = [layouts.PAGE_HEADER, layouts.C4_HEADER, layouts.INTERACTIVE_HEADER];

/** Enough to find one that differs from the requested ID. */
const MAX_REDIRECTS_READ = 2;

const REDIRECT = 'onResponseReceivedActions.*.navigateAction.endpoint';

function findRedirects(page: JsonObject): string[] {
  const endpoints = valuesAt(page, REDIRECT);
  const targets = endpoints.flatMap((endpoint) => TARGETS.flatMap((path) => valuesAt(endpoint, path)));
  const channelIds = targets.map((target) => parseText(target, 'url', parseChannelId));
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
function findLanguage(page: JsonObject, find: Find): string | undefined {
  const named = textWithin(find(layouts.LANGUAGE)[0], 'language');
  if (named !== undefined) return named;
  const urls = valuesNamed(firstAt(page, 'header'), 'url').map((url) => textWithin(url, 'url') ?? '');
  const signIns = urls.filter((url) => url.startsWith(SIGN_IN)).slice(0, MAX_CANDIDATES);
  const languages = signIns.map((url) => URL.parse(url)?.searchParams.get('hl') ?? '');
  return languages.find((language) => language !== '')?.slice(0, MAX_CHARACTERS.language);
}

export function isEnglish(language: string): boolean {
  return /^en(?:[-_]|$)/i.test(language);
}

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
