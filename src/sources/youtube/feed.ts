import type { Channel, FeedValues } from '../../domain/channel.ts';
import { decodeReferences, textWithin } from '../foreign-texts.ts';
import type { LoadedChannel } from '../source.ts';
import { parseChannelId } from '../youtube-urls.ts';
import { toIsoSeconds } from './texts.ts';

export type FeedReading = NonNullable<ReturnType<typeof readFeed>>;

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

/** The root element follows the XML declaration. */
const START_CHARACTERS = 500;

/**
 * What a feed says about its channel: YouTube writes it before the entries, each of which has a title and a time of its own.
 * `undefined` for another document, and for a part of a feed.
 */
export function readFeed(xml: string) {
  if (!/<feed\b/.test(xml.slice(0, START_CHARACTERS)) || !xml.trimEnd().endsWith('</feed>')) return undefined;
  const [head = ''] = xml.split('<entry', 1);
  const title = /<title>([^<]{0,10000})<\/title>/.exec(head)?.[1];
  const published = /<published>([^<]{1,50})<\/published>/.exec(head)?.[1];
  // Since 2023 the elements with the ID lack the "UC" or are empty. The alternate link has the full ID.
  const page = /<link rel="alternate" href="([^"]{1,2048})"/.exec(head)?.[1];
  return {
    /** It is in the language of the channel's owner; a page has the title in the language that was asked for. */
    title: title === undefined ? undefined : textWithin(decodeReferences(title), 'title'),
    /** When the channel was created, to the second. */
    publishedAt: parseTimestamp(published ?? ''),
    channelId: parseChannelId(page ?? ''),
  };
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTimestamp(text: string): string | undefined {
  const date = TIMESTAMP.test(text) ? new Date(text) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : toIsoSeconds(date);
}
