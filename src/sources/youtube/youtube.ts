import { extname } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { createBodyReader } from '../../lib/http/body-reader.ts';
import type { HttpClient } from '../../lib/http/client.ts';
import type { ChannelSource, LoadOptions, SourceWithDates } from '../source.ts';
import * as answerReaders from './answer-readers.ts';
import { throwIfUnavailable } from './answers.ts';
import { createChannelLoader } from './channel.ts';
import type { ClientVersions } from './client-version.ts';
import { publishedAtOf } from './feed.ts';
import { createInnertube } from './innertube.ts';
import type { FieldObserver } from './record.ts';
import { resolveChannelId } from './resolve.ts';
import { searchChannels } from './search.ts';

export interface YoutubeSourceOptions {
  /** Must not follow redirects, because a redirect is a block. Closed with the source. */
  readonly http: HttpClient;
  /** Replaces https://www.youtube.com in requests; without a trailing slash. */
  readonly origin: string;
  /** Also does its due work with the source. */
  readonly clientVersions: ClientVersions;
  /** Requests only the needed parts of a channel page. */
  readonly useFieldMask: boolean;
  /** `computed`: load the About panel in parallel with a built token; `page`: use the token in the page. */
  readonly aboutToken: 'computed' | 'page';
  readonly clock: Clock;
  /** For counting which paths carry the fields, where a layout change shows first. */
  readonly onField?: FieldObserver;
}

export type YoutubeSource = SourceWithDates & Required<Pick<ChannelSource, 'getRest'>>;

/** With the extension of this file: the source runs as `.ts`, compiled code as `.js`. */
const ANSWER_READERS = new URL(`./answer-readers${extname(import.meta.url)}`, import.meta.url);

/** YouTube without a key, through the calls of its web client. `docs/youtube.md` describes them. */
export function createYoutubeSource(options: YoutubeSourceOptions): YoutubeSource {
  const { clientVersions } = options;
  const reader = createBodyReader({ readers: answerReaders, module: ANSWER_READERS });
  const innertube = createInnertube({ ...options, reader });
  const { loadChannel, loadRest } = createChannelLoader({ ...options, innertube });

  return {
    name: 'youtube',
    isLive: true,
    origin: options.origin,
    holders: { 'long answers of YouTube': reader.stats },
    resolve: async (ref, { signal }) => ({ channelId: await resolveChannelId(innertube, ref, signal) }),
    getChannel: (channelId, { signal }) => loadChannel(channelId, signal),
    getRest: (channelId, rest, { signal }) => loadRest(channelId, rest, signal),
    search: (query, _limit, options) => searchChannels(innertube, query, options),

    async findPublishedAt(channelId: string, { signal }: LoadOptions) {
      const response = await innertube.getFeed(channelId, signal);
      throwIfUnavailable(response, 'xml');
      // Feeds of existing channels return 404 for days at a time (2024-01 to 2026-09), so a 404 means nothing.
      if (response.status !== 200) return null;
      return publishedAtOf(await reader.read('feed', response.body, signal), channelId) ?? null;
    },

    status: () => ({ clientVersion: clientVersions.state() }),
    runDueWork: () => clientVersions.runIfDue(),

    async close() {
      await Promise.all([options.http.close(), reader.close()]);
    },
  };
}
