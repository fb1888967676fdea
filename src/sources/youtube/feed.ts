import { parseChannelId } from '../youtube-urls.ts';
import { toIsoSeconds } from './texts.ts';

/** What a feed says about its channel. */
export interface FeedReading {
  /** When the channel was created, to the second. */
  readonly publishedAt: string | undefined;
  readonly channelId: string | undefined;
}

/** `FeedReading.publishedAt`; `undefined` also if the feed belongs to another channel. */
export function publishedAtOf(feed: FeedReading | undefined, channelId: string): string | undefined {
  return (feed?.channelId ?? channelId) === channelId ? feed?.publishedAt : undefined;
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
 * The content of a feed about its channel: the `published` and the alternate `link` elements that are children of an
 * Atom `feed`. Every `entry` has its own. `undefined` if the feed is not well-formed.
 */
export function readFeed(xml: string): FeedReading | undefined {
  const open: string[] = [];
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
    if (open.length === 1 && name === 'published')
      publishedAt ??= parseTimestamp(xml.slice(end, xml.indexOf('<', end)));
    if (!attributes.endsWith('/')) open.push(name);
    if (open.length > MAX_DEPTH) return undefined;
  }
  return open.length === 0 ? { publishedAt, channelId } : undefined;
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
