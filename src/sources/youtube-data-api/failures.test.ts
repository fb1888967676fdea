import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
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
  createUpstreamClient,
  FAULTS,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithJson,
  respondWithStatus,
} from '../../../test/helpers/fake-upstream.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { createYoutubeDataApiSource } from './youtube-data-api.ts';

let upstream: FakeUpstream;
let source: ReturnType<typeof createYoutubeDataApiSource>;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ upstream, source } = await startDataApiSource());
});

describe('an unknown channel', () => {
  it.each([
    ['an empty list', respondWithJson({ kind: 'youtube#channelListResponse', items: [] })],
    ['no list', respondWithJson({ kind: 'youtube#channelListResponse', pageInfo: { totalResults: 0 } })],
    ['a 404', respondWithDataApiError(404, 'channelNotFound', 'The channel cannot be found.')],
  ])('follows from %s', async (_name, listener) => {
    upstream.response(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe('channel_not_found');
  });

  it.each<[string, Parameters<FakeUpstream['response']>[0], ErrorCode]>([
    ['an empty object', respondWithJson({}), 'upstream_invalid'],
    [
      'another channel',
      respondWithJson({ kind: 'youtube#channelListResponse', items: [CHANNELS[1]] }),
      'upstream_invalid',
    ],
    [
      'a channel without a title',
      respondWithJson({ kind: 'youtube#channelListResponse', items: [{ id: ID }] }),
      'upstream_invalid',
    ],
    ['a list', respondWithJson([]), 'upstream_invalid'],
    ['cut JSON', respondWithBytes(Buffer.from('{"kind": "youtube#channelListRes')), 'upstream_invalid'],
    ['HTML', respondWithBytes(Buffer.from('<html>Sorry</html>')), 'upstream_unavailable'],
    ['a 400', respondWithDataApiError(400, 'badRequest', 'Request contains an invalid argument.'), 'upstream_invalid'],
    [
      'a 400 that names the ID',
      respondWithDataApiError(400, 'invalidChannelId', 'Invalid channel.'),
      'upstream_invalid',
    ],
    ['a 400 that names no channel', respondWithDataApiError(400, 'channelNotFound'), 'upstream_invalid'],
    ['a part that is gone', respondWithDataApiError(400, 'unknownPart'), 'upstream_invalid'],
    [
      'items that are no channels',
      respondWithJson({ kind: 'youtube#channelListResponse', items: [{}] }),
      'upstream_invalid',
    ],
    ['a 400 without a reason', respondWithStatus(400), 'upstream_invalid'],
    ['a 404 of another page', respondWithStatus(404), 'upstream_invalid'],
    ['a redirect', redirectTo('https://www.google.com/sorry'), 'upstream_unavailable'],
    ['a 500', respondWithStatus(500), 'upstream_unavailable'],
  ])('does not follow from %s', async (_name, listener, code) => {
    upstream.response(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe(code);
  });
});

const MESSAGES = {
  quota_exceeded: 'The daily quota of the YouTube Data API is spent.',
  rate_limited: 'YouTube Data API refuses this service at the moment.',
  key_refused: 'The YouTube Data API does not accept this service’s key.',
  channel_refused: 'The YouTube Data API does not show this channel.',
  refused: 'The YouTube Data API refuses this service at the moment.',
};

const SPENT_BY_METRIC =
  "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day' of service 'youtube.googleapis.com'.";

describe('a refusal', () => {
  it.each([
    [403, 'quotaExceeded', '', MESSAGES.quota_exceeded],
    [403, 'dailyLimitExceeded', '', MESSAGES.quota_exceeded],
    [403, 'rateLimitExceeded', '', MESSAGES.rate_limited],
    [429, 'anything', '', MESSAGES.rate_limited],
    [429, 'rateLimitExceeded', SPENT_BY_METRIC, MESSAGES.quota_exceeded],
    [403, 'rateLimitExceeded', SPENT_BY_METRIC, MESSAGES.quota_exceeded],
    [400, 'keyInvalid', '', MESSAGES.key_refused],
    [400, 'badRequest', 'API key not valid. Please pass a valid API key.', MESSAGES.key_refused],
    [400, 'badRequest', 'API key expired. Please renew the API key.', MESSAGES.key_refused],
    [403, 'accessNotConfigured', '', MESSAGES.key_refused],
    [403, 'channelClosed', '', MESSAGES.channel_refused],
    [403, 'channelForbidden', '', MESSAGES.channel_refused],
    [403, 'channelNotFound', '', MESSAGES.channel_refused],
    [403, 'channelSuspended', '', MESSAGES.channel_refused],
    [403, 'forbidden', '', MESSAGES.refused],
    [401, 'authError', '', MESSAGES.refused],
  ])('with %i %s %s has its own error', async (status, reason, message, expected) => {
    upstream.response(respondWithDataApiError(status, reason, message));
    const error = await failureOf(source.getChannel(ID, { signal }));
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expected });
    // A refusal of one channel does not concern others. An unexplained one may concern one channel or this address.
    const scopes = {
      channelClosed: 'answer',
      channelForbidden: 'answer',
      channelNotFound: 'answer',
      channelSuspended: 'answer',
      forbidden: 'key',
    };
    expect(error.scope).toBe(scopes[reason as keyof typeof scopes] ?? 'upstream');
  });
});

it('a call that hangs is given up after five seconds', async () => {
  const clock = createManualClock();
  const http = createUpstreamClient(upstream.origin, clock);
  const hanging = createTestDataApiSource(upstream.origin, { http, clock });
  onTestFinished(() => hanging.close());
  upstream.response(FAULTS.hangBeforeHeaders);
  const failure = failureOf(hanging.getChannel(ID, { signal }));
  await clock.passTimer(5_000);
  expect((await failure).code).toBe('upstream_timeout');
});

describe('the key', () => {
  it('is sent in a header field and never in a URL', async () => {
    const headers: unknown[] = [];
    upstream.response((request, response) => {
      headers.push(request.headers['x-goog-api-key']);
      dataApi(request, response);
    });
    await source.getChannel(ID, { signal });
    await source.search('sample', 1, { signal });
    expect(headers).toEqual([KEY, KEY]);
    expect(upstream.requests.join()).not.toContain(KEY);
  });

  it('is never in an error, even if upstream repeats it', async () => {
    for (const listener of [
      respondWithDataApiError(400, 'keyInvalid', `API key ${KEY} not valid.`),
      respondWithDataApiError(400, 'badRequest', `API key ${KEY} not valid.`),
      FAULTS.resetBeforeResponse,
      FAULTS.resetMidBody,
      FAULTS.garbage,
    ]) {
      upstream.response(listener);
      expect(inspect(await failureOf(source.getChannel(ID, { signal })), { depth: 10 })).not.toContain(KEY);
    }
  });
});
