import { toIsoSeconds } from './texts.ts';
import { parseChannelId } from './urls.ts';

/** When the channel was created, to the second; `undefined` if the feed does not say, or belongs to another channel. */
export function publishedAtOf(feed: ReturnType<typeof readFeed>, channelId: string): string | undefined {
  const isOfAnother = feed?.channelId !== undefined && feed.channelId !== channelId;
  return isOfAnother ? undefined : feed?.publishedAt;
}

/**
 * The content of a feed about its channel: the `published` and the alternate `link` elements that are children of an
 * Atom `feed`. Every `entry` has its own. `undefined` if the feed is not well-formed.
 */
export function readFeed(xml: string) {
  const open: string[] = [];
  let publishedAt: string | undefined;
  let channelId: string | undefined;
  for (const tag of tagsOf(xml)) {
    if (tag === undefined) return undefined;
    if (tag.isClosing) {
      if (open.pop() !== tag.name) return undefined;
      continue;
    }
    if (open.length === 0 && tag.name !== 'feed') return undefined;
    if (open.length === 1 && tag.name === 'link') channelId ??= channelIdOfLink(tag.attributes);
    if (open.length === 1 && tag.name === 'published') publishedAt ??= parseTimestamp(textFrom(xml, tag.end));
    if (!tag.attributes.endsWith('/')) open.push(tag.name);
    if (open.length > MAX_DEPTH) return undefined;
  }
  return open.length === 0 ? { publishedAt, channelId } : undefined;
}

/** Upstream's feeds have four levels. */
const MAX_DEPTH = 32;

interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly attributes: string;
  /** Where its content starts. */
  readonly end: number;
}

/** Markup of XML 1.0 that does not end at the next `>`. It is skipped. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

const NAME = /^[A-Za-z_][\w:.-]*/;

/** The tags in document order. Broken markup yields `undefined` and ends the sequence. */
function* tagsOf(xml: string): Generator<Tag | undefined> {
  for (let start = xml.indexOf('<'); start !== -1; ) {
    const skipped = SKIPPED.find(([opening]) => xml.startsWith(opening, start));
    const end = skipped === undefined ? findTagEnd(xml, start) : endOf(xml, skipped[1], start);
    const tag = skipped === undefined && end !== -1 ? parseTag(xml.slice(start + 1, end - 1), end) : undefined;
    if (end === -1 || (skipped === undefined && tag === undefined)) {
      yield undefined;
      return;
    }
    if (tag !== undefined) yield tag;
    start = xml.indexOf('<', end);
  }
}

function endOf(xml: string, closing: string, start: number): number {
  const index = xml.indexOf(closing, start);
  return index === -1 ? -1 : index + closing.length;
}

/** The position after the `>` of a tag; a `>` in a quoted attribute does not count. -1 if the tag does not end. */
function findTagEnd(xml: string, start: number): number {
  let quote = '';
  for (let index = start + 1; index < xml.length; index += 1) {
    const character = xml.charAt(index);
    if (character === '<') return -1;
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (quote === '' && character === '>') return index + 1;
  }
  return -1;
}

function parseTag(text: string, end: number): Tag | undefined {
  const isClosing = text.startsWith('/');
  const inner = isClosing ? text.slice(1) : text;
  const name = NAME.exec(inner)?.[0];
  return name === undefined ? undefined : { name, isClosing, attributes: inner.slice(name.length), end };
}

/** Since 2023 the ID elements of feeds lack the "UC" or are empty. The alternate link has the full ID. */
function channelIdOfLink(attributes: string): string | undefined {
  if (!/\brel=["']alternate["']/.test(attributes)) return undefined;
  return parseChannelId(/\bhref=["']([^"']{1,2048})["']/.exec(attributes)?.[1] ?? '');
}

function textFrom(xml: string, start: number): string {
  const end = xml.indexOf('<', start);
  return xml.slice(start, end < 0 ? undefined : end).trim();
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTimestamp(text: string): string | undefined {
  const date = TIMESTAMP.test(text) ? new Date(text) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : toIsoSeconds(date);
}
