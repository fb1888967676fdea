import type { Channel } from '../../domain/channel.ts';
import type { FeedValues, LoadedChannel } from '../source.ts';
import { textWithin } from '../text-limits.ts';
import { parseChannelId } from '../youtube-urls.ts';
import { toIsoSeconds } from './texts.ts';

/** What a feed says about its channel. */
export interface FeedReading {
  /** In the language of the channel's owner; a page has the title in the language that was asked for. */
  readonly title: string | undefined;
  /** When the channel was created, to the second. */
  readonly publishedAt: string | undefined;
  readonly channelId: string | undefined;
}

/** The ending of a time of which only the day is known. */
const DAY_ONLY = 'T00:00:00Z';

/** False if nothing or only the day is known. */
export function isExactTime(publishedAt: string | null | undefined): boolean {
  return typeof publishedAt === 'string' && !publishedAt.endsWith(DAY_ONLY);
}

/**
 * The record with the values of its feed. The known values stay true as long as the page has the same title and day: they
 * were loaded once, and feeds fail for hours.
 */
export function withFeed(loaded: LoadedChannel, reading: FeedReading | undefined, known?: FeedValues): LoadedChannel {
  const { channelId, title, publishedAt } = loaded.channel;
  const isOwn = reading !== undefined && (reading.channelId ?? channelId) === channelId;
  const feed =
    isOwn && reading.publishedAt !== undefined
      ? { title: reading.title || title, publishedAt: reading.publishedAt, page: { title, publishedAt } }
      : known;
  if (feed === undefined || !isOfPage(feed, loaded.channel)) return loaded;
  const channel = { ...loaded.channel, title: feed.title, publishedAt: feed.publishedAt };
  return { ...loaded, channel, missing: loaded.missing.filter((field) => field !== 'publishedAt'), feed };
}

/** The day may be unknown on either page: it is in the About panel, which may be lost. */
function isOfPage({ page }: FeedValues, { title, publishedAt }: Channel): boolean {
  const isSameDay = page.publishedAt === null || publishedAt === null || page.publishedAt === publishedAt;
  return page.title === title && isSameDay;
}

/** Upstream's feeds have four levels. */
const MAX_DEPTH = 32;

/** Markup of XML 1.0 that does not end at the next `>`. It is skipped. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

const TAG_START = /^(\/?)([A-Za-z_][\w:.-]*)/;

/**
 * The content of a feed about its channel: the `title`, the `published` and the alternate `link` elements that are children
 * of an Atom `feed`. Every `entry` has its own. `undefined` if the feed is not well-formed.
 */
export function readFeed(xml: string): FeedReading | undefined {
  const open: string[] = [];
  let title: string | undefined;
  let publishedAt: string | undefined;
  let channelId: string | undefined;
  for (let start = xml.indexOf('<'), end = 0; start !== -1; start = xml.indexOf('<', end)) {
    const closing = SKIPPED.find(([opening]) => xml.startsWith(opening, start))?.[1];
    const last = closing === undefined ? findTagEnd(xml, start) : xml.indexOf(closing, start);
    if (last === -1) return undefined;
    end = last + (closing ?? '>').length;
    if (closing !== undefined) continue;
    const tag = xml.slice(start + 1, last);
    const [tagStart = '', slash, name] = TAG_START.exec(tag) ?? [];
    if (name === undefined) return undefined;
    if (slash === '/') {
      if (open.pop() !== name) return undefined;
      continue;
    }
    const attributes = tag.slice(tagStart.length);
    if (open.length === 0 && name !== 'feed') return undefined;
    if (open.length === 1 && name === 'link') channelId ??= channelIdOfLink(attributes);
    const content = () => xml.slice(end, xml.indexOf('<', end));
    if (open.length === 1 && name === 'title') title ??= textWithin(decodeReferences(content()), 'title');
    if (open.length === 1 && name === 'published') publishedAt ??= parseTimestamp(content());
    if (!attributes.endsWith('/')) open.push(name);
    if (open.length > MAX_DEPTH) return undefined;
  }
  return open.length === 0 ? { title, publishedAt, channelId } : undefined;
}

/** The position of the `>` of a tag; a `>` in a quoted attribute does not count. -1 if the tag does not end. */
function findTagEnd(xml: string, start: number): number {
  let quote = '';
  for (let index = start + 1; index < xml.length; index += 1) {
    const character = xml.charAt(index);
    if (character === '<') return -1;
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (quote === '' && character === '>') return index;
  }
  return -1;
}

/** Since 2023 the ID elements of feeds lack the "UC" or are empty. The alternate link has the full ID. */
function channelIdOfLink(attributes: string): string | undefined {
  if (!/\brel=["']alternate["']/.test(attributes)) return undefined;
  return parseChannelId(/\bhref=["']([^"']{1,2048})["']/.exec(attributes)?.[1] ?? '');
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTimestamp(content: string): string | undefined {
  const text = content.trim();
  const date = TIMESTAMP.test(text) ? new Date(text) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : toIsoSeconds(date);
}

const REFERENCE = /&(?:#(\d{1,7})|#x([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g;
const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Replaces the references of XML 1.0, section 4.6, and numbers of characters. Every other text stays. */
function decodeReferences(content: string): string {
  return content.replaceAll(REFERENCE, (reference, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES.get(name) ?? reference;
    const codePoint = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return codePoint <= 0x10_ff_ff ? String.fromCodePoint(codePoint) : reference;
  });
}
