import type { SearchHit } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { findHandle, type Identifier, isChannelId } from '../../domain/identifier.ts';
import type { Clock } from '../../lib/clock.ts';
import { withDeadline, withinMs } from '../../lib/deadlines.ts';
import type { SourceGates } from '../gates.ts';
import { type ChannelOptions, type ChannelSource, channelNotFound, type LoadedChannel } from '../source.ts';
import { findYoutubeUrl, parseChannelId } from '../youtube-urls.ts';
import { type About, completeAbout, loadAboutPanel, valueOrLost } from './about.ts';
import { isRefusalStatus } from './client-version.ts';
import { isExactTime, withFeed } from './feed.ts';
import { saysGone } from './gone.ts';
import {
  createInnertube,
  type Innertube,
  inconclusive,
  invalid,
  isNotFound,
  requireFound,
  YOUTUBE_WEB,
} from './innertube.ts';
import type { PageReading } from './page.ts';
import { buildRecord, type FieldObserver, showsChannel } from './record.ts';

/** A loaded channel page waits for the About data. */
export const ABOUT_MS = 3_000;
/** A loaded channel page waits for the feed (`docs/youtube.md`). */
const FEED_MS = 250;

export interface YoutubeSourceOptions {
  /** It replaces https://www.youtube.com in requests, and has no trailing slash. */
  readonly origin: string;
  readonly gateOf: SourceGates;
  /** True to search for handles that YouTube's resolver loses. By default the next source is called. */
  readonly searchesForLostHandles?: boolean | undefined;
  readonly clock: Clock;
  /** Counts what became of each field, where a change of YouTube’s objects shows first. */
  readonly onField?: FieldObserver;
}

const MAX_REDIRECTS = 3;

/**
 * YouTube without a key, through the calls of its web client. `docs/youtube.md` describes them.
 *
 * A record takes one round trip: the page, the About panel and the feed are loaded in parallel. Without the page there is no
 * record; without the panel the record is incomplete; without the feed it has the page's title and day.
 */
export function createYoutubeSource(options: YoutubeSourceOptions) {
  const { origin, gateOf, clock, onField, searchesForLostHandles = false } = options;
  const innertube = createInnertube(origin, gateOf);

  async function loadChannel(channelId: string, options: ChannelOptions, redirects = 0): Promise<LoadedChannel> {
    const { signal, known } = options;
    const besideAbort = new AbortController();
    const beside = AbortSignal.any([signal, besideAbort.signal]);
    const panel = loadAboutPanel(innertube, channelId, beside);
    // The rejection is handled below. If the page alone decides the result, it does not matter.
    panel.catch(() => undefined);
    const isTimeKnown = isExactTime(known?.channel.publishedAt);
    // Feeds fail for hours, and that costs nothing but their values.
    const feed = isTimeKnown ? undefined : innertube.getFeed(channelId, beside).catch(() => undefined);
    try {
      const page = await loadPage(channelId, signal);
      const target = page.redirectId ?? (await followUrl(page, signal));
      if (target === undefined || target === channelId) {
        assertShowsChannel(page);
        const reading = feed && withinMs(clock, feed, FEED_MS);
        const loaded = await readRecord(channelId, page, signal, panel);
        return withFeed(loaded, await reading, known?.feed);
      }
      if (redirects === MAX_REDIRECTS) throw inconclusive('YouTube redirects this channel too often.', target);
      besideAbort.abort();
      return await loadChannel(target, { signal }, redirects + 1);
    } finally {
      besideAbort.abort();
    }
  }

  /** The channel of a redirect to a handle. */
  async function followUrl(page: PageReading, signal: AbortSignal): Promise<string | undefined> {
    if (page.redirectUrl === undefined || showsChannel(page)) return undefined;
    const channelId = await resolvePage(innertube, requireNextUrl(page.redirectUrl), signal, 1);
    if (channelId === undefined) throw inconclusive(NOT_KNOWN, page.redirectUrl);
    return channelId;
  }

  async function loadPage(channelId: string, signal: AbortSignal): Promise<PageReading> {
    const response = await browse(channelId, signal);
    // The second way to a record, for calls that YouTube refuses, but not for an address that it refuses.
    if (response.kind === 'refusal' && isRefusalStatus(response.status))
      return innertube.getAboutPage(channelId, signal);
    return requireFound(response, 'browse', 'YouTube did not understand the request for this channel.');
  }

  async function browse(channelId: string, signal: AbortSignal) {
    const parts = await innertube.browseChannel(channelId, 'masked', signal);
    if (parts.kind === 'value' && isConclusive(parts.value)) return parts;
    // Age gates have their data outside the mask, and a refusal may concern the mask instead of the channel.
    const page = await innertube.browseChannel(channelId, 'whole', signal);
    // A 404 may be transient: unknown channels have an alert (2026-07). Another response must confirm it.
    if (!isNotFound(page) || isNotFound(parts)) return page;
    return innertube.browseChannel(channelId, 'whole', signal);
  }

  async function readRecord(channelId: string, page: PageReading, signal: AbortSignal, panel: Promise<About>) {
    // Limits the wait: a failed panel must not fail the page.
    const loading = withDeadline(clock, ABOUT_MS, signal, async (patience) =>
      completeAbout(innertube, channelId, page, await panel, patience),
    );
    const about = await valueOrLost(loading, signal);
    const loaded = buildRecord(channelId, page, about, onField);
    if (loaded === undefined) throw invalid('YouTube sent a channel without its ID.');
    return loaded;
  }

  return {
    name: 'youtube',
    async resolve(identifier, { signal }) {
      const channelId = await resolvePage(innertube, pageUrl(identifier), signal);
      const isSearched = channelId === undefined && searchesForLostHandles && identifier.kind === 'handle';
      const found = isSearched ? await searchForHandle(innertube, identifier, signal) : channelId;
      if (found === undefined) throw inconclusive(NOT_KNOWN, identifier.value);
      return { channelId: found };
    },
    getChannel: loadChannel,
    search: (query, { signal }) => searchChannels(innertube, query, signal),
  } satisfies ChannelSource;
}

/** False if the page says nothing about its channel inside the field mask. */
function isConclusive(page: PageReading): boolean {
  const { alert, redirectId, redirectUrl } = page;
  return showsChannel(page) || [alert, redirectId, redirectUrl].some((found) => found !== undefined);
}

/** @throws AppError `channel_not_found` only for an alert that says so */
function assertShowsChannel(page: PageReading): void {
  if (showsChannel(page)) return;
  const { alert } = page;
  if (alert === undefined) throw invalid('YouTube sent a response without a channel.');
  if (saysGone(alert)) throw channelNotFound(alert);
  const options = { cause: new Error(alert), scope: 'inconclusive' } as const;
  throw new AppError('upstream_unavailable', 'YouTube did not show this channel.', options);
}

/** In 2025-07 a handle led to another URL instead of its channel. More than one such redirect was never seen. */
const MAX_HOPS = 3;

/**
 * The channel of a page; `undefined` if YouTube's resolver leads to a name that it does not know.
 *
 * @param hops how many redirects have led to the page
 */
async function resolvePage(
  innertube: Innertube,
  page: string,
  signal: AbortSignal,
  hops = 0,
): Promise<string | undefined> {
  let url = page;
  for (let hop = hops; hop <= MAX_HOPS; hop += 1) {
    const response = await innertube.resolveUrl(url, signal);
    // Another URL led here, so the channel may exist: "/@Vilebrequin", "/vilebrequin", NOT_FOUND (2026).
    if (hop > 0 && isNotFound(response)) return undefined;
    const { browseId, target, isVideo } = requireFound(response, 'resolve_url', NOT_UNDERSTOOD);
    if (browseId !== undefined && isChannelId(browseId)) return browseId;
    if (browseId !== undefined || isVideo) throw channelNotFound(`${url} is the page ${browseId ?? 'of a video'}`);
    url = requireNextUrl(target);
    const channelId = parseChannelId(url);
    if (channelId !== undefined) return channelId;
  }
  throw inconclusive('YouTube redirects this name too often.', url);
}

/** The channel with this very handle among the hits of one search. */
async function searchForHandle(innertube: Innertube, { key, value }: Identifier, signal: AbortSignal) {
  const hits = await searchChannels(innertube, `@${value}`, signal);
  return hits.find(({ customUrl }) => findHandle(customUrl ?? '')?.key === key)?.channelId;
}

const PAGES: Record<Identifier['kind'], string> = { id: 'channel/', handle: '@', username: 'user/', custom: 'c/' };

function pageUrl({ kind, value }: Identifier): string {
  return `${YOUTUBE_WEB}/${PAGES[kind]}${encodeURIComponent(value)}`;
}

const NOT_KNOWN = 'YouTube could not tell which channel has this name.';
const NOT_UNDERSTOOD = 'YouTube did not understand the request for this name.';

function requireNextUrl(target: string | undefined): string {
  if (target === undefined) throw invalid('YouTube sent a response without a channel or a URL.');
  const url = findYoutubeUrl(target);
  if (url === undefined) throw inconclusive('YouTube redirects this name to another site.', target);
  return `${YOUTUBE_WEB}${url.pathname}${url.search}`;
}

async function searchChannels(innertube: Innertube, query: string, signal: AbortSignal): Promise<SearchHit[]> {
  const response = await innertube.search(query, signal);
  if (response.kind === 'refusal') {
    throw invalid('YouTube did not understand the search.', new Error(response.reason));
  }
  if (response.value === undefined) throw invalid('YouTube sent search results in an unknown form.');
  return response.value;
}
