import { parseChannelId } from './identities.ts';
import { toIsoSeconds } from './texts.ts';

/**
 * Markup of XML 1.0: comments, CDATA and processing instructions as wholes, tags with quoted attributes. Any other `<`
 * is broken markup, where reading ends: a document of unclosed comments must not be searched anew from each of them.
 */
const MARKUP =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<(?<close>\/?)(?<name>[A-Za-z_][\w:.-]*)(?<attributes>(?:[^<>"']|"[^"<]*"|'[^'<]*')*)>|(?<broken><)/g;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * When the channel was created, to the second: the `published` that is a child of `feed` itself (every `entry` has one
 * of its own). `undefined` when the feed does not say, is another channel's, or is no feed.
 */
export function parseFeedPublished(xml: string, channelId: string): string | undefined {
  const open: string[] = [];
  let published: string | undefined;
  for (const match of xml.matchAll(MARKUP)) {
    const { close, name, attributes = '', broken } = match.groups ?? {};
    if (broken !== undefined) return undefined;
    if (name === undefined) continue;
    if (close === '/') {
      if (open.pop() !== name) return undefined;
      continue;
    }
    if (open.length === 0 && name !== 'feed') return undefined;
    if (open.length === 1 && name === 'link' && isOfAnotherChannel(attributes, channelId)) return undefined;
    if (open.length === 1 && name === 'published') {
      published ??= parseTimestamp(textFrom(xml, match.index + match[0].length));
    }
    if (!attributes.endsWith('/')) open.push(name);
  }
  return open.length === 0 ? published : undefined;
}

/** The feed's own ID elements lack their "UC" since 2023 or are empty: the alternate link is whole. */
function isOfAnotherChannel(attributes: string, channelId: string): boolean {
  if (!/\brel=["']alternate["']/.test(attributes)) return false;
  const href = /\bhref=["']([^"']*)["']/.exec(attributes)?.[1] ?? '';
  const linkedId = parseChannelId(href);
  return linkedId !== undefined && linkedId !== channelId;
}

function textFrom(xml: string, start: number): string {
  const end = xml.indexOf('<', start);
  return xml.slice(start, end < 0 ? undefined : end).trim();
}

function parseTimestamp(text: string): string | undefined {
  const date = new Date(text);
  return TIMESTAMP.test(text) && !Number.isNaN(date.getTime()) ? toIsoSeconds(date) : undefined;
}
