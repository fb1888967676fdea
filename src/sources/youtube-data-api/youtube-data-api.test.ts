import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeSourceContract } from '../../../test/contracts/source.ts';
import {
  CHANNELS,
  createTestDataApiSource,
  dataApi,
  ID,
  KEY,
  respondWithDataApiError,
  startDataApiSource,
} from '../../../test/helpers/data-api.ts';
import { failureOf } from '../../../test/helpers/failure.ts';
import {
  FAULTS,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithJson,
  respondWithStatus,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { createYoutubeDataApiSource } from './youtube-data-api.ts';

const OTHER_ID = 'UCPennantSample00000002A';

describeSourceContract('youtube-data-api', async () => {
  const upstream = await startFakeUpstream(dataApi);
  return {
    source: createTestDataApiSource(upstream.origin),
    known: { channelId: ID, title: 'Sample & Friends', handle: 'sample' },
    knownUsername: 'olduser',
    unknown: { channelId: 'UCPennantSample00000009A', handle: 'nobody', username: 'nobody' },
    queryWithHits: 'sample',
    queryWithoutHits: 'nothing like this',
    breakUpstream: () => upstream.response(respondWithStatus(503)),
    stallUpstream: () => upstream.response(FAULTS.hangBeforeHeaders),
    tearDown: () => upstream.close(),
  };
});

let upstream: FakeUpstream;
let source: ReturnType<typeof createYoutubeDataApiSource>;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ upstream, source } = await startDataApiSource());
});

const channelList = (content: object) => respondWithJson({ kind: 'youtube#channelListResponse', ...content });

describe('a record of the official API', () => {
  it('has every field of the response, and no links', async () => {
    const { channel } = await source.getChannel(ID, { signal });
    expect(channel).toEqual({
      channelId: ID,
      title: 'Sample & Friends',
      description: 'About\nsamples',
      customUrl: '@sample',
      publishedAt: '2012-03-04T05:06:07Z',
      country: 'NZ',
      subscriberCount: '4500',
      viewCount: '123456789012',
      videoCount: '0',
      links: null,
      banner: expect.objectContaining({ key: 'https://yt3.googleusercontent.com/banner' }),
      avatar: expect.objectContaining({ key: 'https://yt3.ggpht.com/ytc/avatar' }),
    });
  });

  it('has null for values that are hidden or absent', async () => {
    const unknown = { customUrl: null, publishedAt: null, country: null, subscriberCount: null };
    const { channel } = await source.getChannel(OTHER_ID, { signal });
    expect(channel).toMatchObject({ ...unknown, description: '', viewCount: '5', banner: null, avatar: null });
  });

  it('takes one call by name, and may be beside items that are no channel', async () => {
    upstream.response(channelList({ items: [null, { kind: 'youtube#video', id: 'x' }, CHANNELS[0]] }));
    const { loaded } = await source.resolve({ kind: 'handle', value: 'sample', key: 'sample' }, { signal });
    expect([loaded?.channel.channelId, upstream.requests.length]).toEqual([ID, 1]);
  });
});

describe('an unknown channel', () => {
  it.each([
    ['an empty list', channelList({ items: [] })],
    ['no list', channelList({ pageInfo: { totalResults: 0 } })],
    ['a 404', respondWithDataApiError(404, 'channelNotFound')],
  ])('follows from %s', async (_name, listener) => {
    upstream.response(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe('channel_not_found');
  });

  it.each<[string, Parameters<FakeUpstream['response']>[0], ErrorCode]>([
    ['an empty object', respondWithJson({}), 'upstream_invalid'],
    ['another channel', channelList({ items: [CHANNELS[1]] }), 'upstream_invalid'],
    ['a channel without a title', channelList({ items: [{ id: ID }] }), 'upstream_invalid'],
    ['cut JSON', respondWithBytes(Buffer.from('{"kind": "youtube#channelListRes')), 'upstream_invalid'],
    ['HTML', respondWithBytes(Buffer.from('<html>Sorry</html>')), 'upstream_unavailable'],
    ['a 400 that names the ID', respondWithDataApiError(400, 'invalidChannelId'), 'upstream_invalid'],
    ['a 400 that names no channel', respondWithDataApiError(400, 'channelNotFound'), 'upstream_invalid'],
    ['a 404 of another page', respondWithStatus(404), 'upstream_invalid'],
    ['a redirect', redirectTo('https://www.google.com/sorry'), 'upstream_unavailable'],
  ])('does not follow from %s', async (_name, listener, code) => {
    upstream.response(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe(code);
  });
});

const SPENT_BY_METRIC =
  "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day' of service 'youtube.googleapis.com'.";
const QUOTA = 'YouTube Data API has no quota left.';
const FAILS = 'YouTube Data API gives no usable responses.';
const CHANNEL_REFUSED = 'The YouTube Data API does not show this channel.';
const REFUSED = 'YouTube Data API refuses this server.';

it.each([
  [403, 'quotaExceeded', '', QUOTA, 'upstream'],
  [403, 'dailyLimitExceeded', '', QUOTA, 'upstream'],
  [429, 'rateLimitExceeded', SPENT_BY_METRIC, QUOTA, 'upstream'],
  [403, 'rateLimitExceeded', '', REFUSED, 'upstream'],
  [429, 'anything', '', REFUSED, 'upstream'],
  // Of the key.
  [400, 'keyInvalid', '', FAILS, 'upstream'],
  [400, 'badRequest', 'API key not valid. Please pass a valid API key.', FAILS, 'upstream'],
  [403, 'accessNotConfigured', '', FAILS, 'upstream'],
  [401, 'authError', '', FAILS, 'upstream'],
  // Of one channel.
  [403, 'channelClosed', '', CHANNEL_REFUSED, 'inconclusive'],
  [403, 'channelSuspended', '', CHANNEL_REFUSED, 'inconclusive'],
  // Of one channel or of this address.
  [403, 'forbidden', '', 'YouTube Data API refused the call.', 'key'],
])('a refusal with %i %s %s has its own error', async (status, reason, text, message, scope) => {
  upstream.response(respondWithDataApiError(status, reason, text));
  const error = await failureOf(source.getChannel(ID, { signal }));
  expect(error).toMatchObject({ code: 'upstream_unavailable', message, scope });
  expect(inspect(error)).toContain(`status ${status}`);
});

describe('a search of the official API', () => {
  const searchIn = async (...items: unknown[]) => {
    upstream.response(respondWithJson({ kind: 'youtube#searchListResponse', items }));
    return source.search('tom', { signal });
  };

  it('decodes the escapes that only searches have', async () => {
    const snippet = { title: 'Tom &amp; Jerry&#39;s &quot;&lt;3&quot;', description: 'a &amp;amp; b' };
    const hit = { title: `Tom & Jerry's "<3"`, description: 'a &amp; b', avatar: 'unknown' };
    expect(await searchIn({ id: { channelId: ID }, snippet })).toMatchObject([hit]);
  });

  it('omits items that are no channel, and is an error if none of its channels is readable', async () => {
    const video = { id: { kind: 'youtube#video', videoId: 'x' }, snippet: { channelId: ID, title: 'A video' } };
    const channel = { id: { channelId: OTHER_ID }, snippet: { title: 'Sample two' } };
    expect(await searchIn(video, null)).toEqual([]);
    expect(await searchIn(video, { id: { channelId: ID } }, channel)).toMatchObject([{ channelId: OTHER_ID }]);
    expect((await failureOf(searchIn({ id: { channelId: ID } }))).code).toBe('upstream_invalid');
  });
});

it('the key is sent in a header field, and is in no URL', async () => {
  const headers: unknown[] = [];
  upstream.response((request, response) => {
    headers.push(request.headers['x-goog-api-key']);
    dataApi(request, response);
  });
  await source.getChannel(ID, { signal });
  await source.search('sample', { signal });
  expect(headers).toEqual([KEY, KEY]);
  expect(upstream.requests.join()).not.toContain(KEY);
});
