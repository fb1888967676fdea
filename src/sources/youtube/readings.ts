import { isChannelId } from '../../domain/identifier.ts';
import { isReadAsEnglish, readFieldValue } from './fields.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt, valuesNamed } from './json.ts';
import {
  ABOUT_PANEL,
  ABOUT_TAB,
  C4_HEADER,
  CHANNEL_FIELDS,
  CHANNEL_LAYOUTS,
  type ChannelField,
  type ChannelLayouts,
  findContinuationToken,
  INTERACTIVE_HEADER,
  LANGUAGE,
} from './layouts.ts';
import { MAX_URL_CHARACTERS, textOf, textWithin } from './texts.ts';

/** A value of a field in a response, and the path that carried it. */
export interface FieldReading {
  readonly field: ChannelField;
  readonly path: string;
  readonly value: unknown;
  /** True if the value would be wrong on a page in another language: "1,234 videos" is read as English. */
  readonly isEnglish: boolean;
}

/** The content of a channel page: plain data of bounded size. */
export interface PageReading {
  readonly fields: readonly FieldReading[];
  /** False if the field mask removed all parts of the page. */
  readonly hasKnownPart: boolean;
  /** The interface language (BCP 47), if the page names it. */
  readonly language: string | undefined;
  /** Other channels to which upstream redirects. */
  readonly redirects: readonly string[];
  /** The text of its error alert. */
  readonly alert: string | undefined;
  /** Leads to the About panel. */
  readonly aboutToken: string | undefined;
  /** Where layouts without a panel have its values: on this page, or on a tab that must be loaded. */
  readonly aboutTab: 'here' | 'elsewhere' | undefined;
}

/** The content of a response to an About token. */
export interface PanelReading {
  readonly fields: readonly FieldReading[];
  readonly hasPanel: boolean;
}

/** The target of a page address: a page of the site, or another address. */
export interface EndpointReading {
  readonly browseId: string | undefined;
  readonly target: string | undefined;
}

export function readPage(page: JsonObject, layouts: ChannelLayouts = CHANNEL_LAYOUTS): PageReading {
  const answer = { page };
  return {
    fields: readFields(answer, layouts),
    hasKnownPart: KNOWN_PARTS.some((part) => firstAt(answer, part) !== undefined),
    language: findLanguage(page),
    redirects: findRedirects(page),
    alert: findAlertText(page),
    aboutToken: findAboutToken(page),
    aboutTab: findAboutTab(page),
  };
}

export function readPanel(about: JsonObject, layouts: ChannelLayouts = CHANNEL_LAYOUTS): PanelReading {
  const answer = { about };
  return { fields: readFields(answer, layouts), hasPanel: isJsonObject(firstAt(answer, ABOUT_PANEL)) };
}

export function readEndpoint(body: JsonObject): EndpointReading {
  return {
    browseId: textWithin(firstAt(body, 'endpoint.browseEndpoint.browseId'), MAX_URL_CHARACTERS),
    target: textWithin(firstAt(body, 'endpoint.urlEndpoint.url'), MAX_URL_CHARACTERS),
  };
}

/** The first readable value of each path. */
function readFields(answer: object, layouts: ChannelLayouts): FieldReading[] {
  const readings: FieldReading[] = [];
  for (const field of CHANNEL_FIELDS) {
    for (const path of layouts[field]) {
      const reading = readFirst(field, path, valuesAt(answer, path));
      if (reading !== undefined) readings.push(reading);
    }
  }
  return readings;
}

/** Pages have ten texts or pictures at one path at most. */
const MAX_CANDIDATES = 100;

function readFirst(field: ChannelField, path: string, found: readonly unknown[]): FieldReading | undefined {
  for (const each of found.slice(0, MAX_CANDIDATES)) {
    const value = readFieldValue(field, each);
    if (value !== undefined) return { field, path, value, isEnglish: isReadAsEnglish(field, each) };
  }
  return undefined;
}

const KNOWN_PARTS = ['page.header', 'page.metadata', 'page.alerts', 'page.onResponseReceivedActions'];

/** Enough to find one that differs from the requested ID. */
const MAX_REDIRECTS_READ = 2;

function findRedirects(page: JsonObject): string[] {
  const targets = valuesAt(page, 'onResponseReceivedActions.*.navigateAction.endpoint.browseEndpoint.browseId');
  const channelIds = targets.filter((target) => typeof target === 'string').filter(isChannelId);
  return [...new Set(channelIds)].slice(0, MAX_REDIRECTS_READ);
}

function findAboutTab(page: JsonObject): PageReading['aboutTab'] {
  if (valuesAt({ page }, ABOUT_TAB).some(isJsonObject)) return 'here';
  return hasOldHeader(page) ? 'elsewhere' : undefined;
}

/** Headers from before the panel, and those of games' "Topic" channels, which kept their tab (seen 2026-07). */
function hasOldHeader(page: JsonObject): boolean {
  return [C4_HEADER, INTERACTIVE_HEADER].some((path) => firstAt({ page }, path) !== undefined);
}

const SIGN_IN = 'https://accounts.google.com/ServiceLogin?';

/** The field mask removes the language itself, but the sign-in links in the header contain it. */
function findLanguage(page: JsonObject): string | undefined {
  const named = textWithin(firstAt({ page }, LANGUAGE), MAX_LANGUAGE_CHARACTERS);
  if (named !== undefined) return named;
  const urls = valuesNamed(firstAt(page, 'header'), 'url').filter((url) => textWithin(url, MAX_URL_CHARACTERS));
  const signIns = urls.filter((url) => String(url).startsWith(SIGN_IN)).slice(0, MAX_CANDIDATES);
  for (const url of signIns) {
    const language = URL.parse(String(url))?.searchParams.get('hl');
    if (language) return language.slice(0, MAX_LANGUAGE_CHARACTERS);
  }
  return undefined;
}

const MAX_LANGUAGE_CHARACTERS = 35;

export function isEnglish(language: string): boolean {
  return /^en(?:[-_]|$)/i.test(language);
}

const ITEMS_IN_PANEL =
  'engagementPanel.engagementPanelSectionListRenderer.content.sectionListRenderer.contents.*' +
  '.itemSectionRenderer.contents.*';

/** A built token has 135 characters. */
const MAX_TOKEN_CHARACTERS = 10_000;

/**
 * Finds the About token in the header of a channel page. Panels elsewhere on the page belong to shelves ("Featured
 * Channels"). All panels of the header are the same.
 */
function findAboutToken(page: JsonObject): string | undefined {
  const panels = valuesNamed(firstAt(page, 'header'), 'showEngagementPanelEndpoint');
  const items = panels.flatMap((panel) => valuesAt(panel, ITEMS_IN_PANEL));
  return textWithin(findContinuationToken(items), MAX_TOKEN_CHARACTERS);
}

/** The longest known alert has 140 characters. */
const MAX_ALERT_CHARACTERS = 500;

/** The text of a page's error alert, `""` for one without a text; `undefined` when there is none. */
function findAlertText(page: JsonObject): string | undefined {
  const alert = valuesAt(page, 'alerts.*.alertRenderer').find((renderer) => firstAt(renderer, 'type') === 'ERROR');
  return alert === undefined ? undefined : (textOf(firstAt(alert, 'text')) ?? '').slice(0, MAX_ALERT_CHARACTERS);
}
