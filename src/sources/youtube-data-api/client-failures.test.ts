import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { answerDataApiError, CHANNELS, dataApi, ID, KEY, startDataApiSource } from '../../../test/helpers/data-api.ts';
import { failureOf } from '../../../test/helpers/failure.ts';
import {
  answerBytes,
  answerJson,
  answerStatus,
  FAULTS,
  type FakeUpstream,
  redirectTo,
} from '../../../test/helpers/fake-upstream.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { createYoutubeDataApiSource } from './client.ts';

let upstream: FakeUpstream;
let source: ReturnType<typeof createYoutubeDataApiSource>;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ upstream, source } = await startDataApiSource());
});

describe('an unknown channel', () => {
  it.each([
    ['an empty list', answerJson({ kind: 'youtube#channelListResponse', items: [] })],
    ['no list', answerJson({ kind: 'youtube#channelListResponse', pageInfo: { totalResults: 0 } })],
    ['a 404', answerDataApiError(404, 'channelNotFound', 'The channel cannot be found.')],
  ])('follows from %s', async (_name, listener) => {
    upstream.answer(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe('channel_not_found');
  });

  it.each<[string, Parameters<FakeUpstream['answer']>[0], ErrorCode]>([
    ['an empty object', answerJson({}), 'upstream_invalid'],
    ['another channel', answerJson({ kind: 'youtube#channelListResponse', items: [CHANNELS[1]] }), 'upstream_invalid'],
    [
      'a channel without a title',
      answerJson({ kind: 'youtube#channelListResponse', items: [{ id: ID }] }),
      'upstream_invalid',
    ],
    ['a list', answerJson([]), 'upstream_invalid'],
    ['cut JSON', answerBytes(Buffer.from('{"kind": "youtube#channelListRes')), 'upstream_invalid'],
    ['HTML', answerBytes(Buffer.from('<html>Sorry</html>')), 'upstream_invalid'],
    ['a 400', answerDataApiError(400, 'badRequest', 'Request contains an invalid argument.'), 'upstream_invalid'],
    ['a 400 that names the ID', answerDataApiError(400, 'invalidChannelId', 'Invalid channel.'), 'upstream_invalid'],
    ['a 400 that names no channel', answerDataApiError(400, 'channelNotFound'), 'upstream_invalid'],
    ['a part that is gone', answerDataApiError(400, 'unknownPart'), 'upstream_invalid'],
    [
      'items that are no channels',
      answerJson({ kind: 'youtube#channelListResponse', items: [{}] }),
      'upstream_invalid',
    ],
    ['a 400 without a reason', answerStatus(400), 'upstream_invalid'],
    ['a 404 of another page', answerStatus(404), 'upstream_invalid'],
    ['a redirect', redirectTo('https://www.google.com/sorry'), 'upstream_unavailable'],
    ['a 500', answerStatus(500), 'upstream_unavailable'],
  ])('does not follow from %s', async (_name, listener, code) => {
    upstream.answer(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe(code);
  });
});

const MESSAGES = {
  quota_exceeded: 'The daily quota of the YouTube Data API is spent.',
  rate_limited: 'The YouTube Data API gets too many requests at the moment.',
  key_refused: 'The YouTube Data API does not accept this service’s key.',
  channel_refused: 'The YouTube Data API does not show this channel.',
  refused: 'The YouTube Data API does not answer this service at the moment.',
};

describe('a refusal', () => {
  it.each([
    [403, 'quotaExceeded', '', MESSAGES.quota_exceeded],
    [403, 'dailyLimitExceeded', '', MESSAGES.quota_exceeded],
    [403, 'rateLimitExceeded', '', MESSAGES.rate_limited],
    [429, 'anything', '', MESSAGES.rate_limited],
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
    upstream.answer(answerDataApiError(status, reason, message));
    const error = await failureOf(source.getChannel(ID, { signal }));
    const scope = expected === MESSAGES.channel_refused ? 'key' : 'upstream';
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expected, scope });
  });
});

describe('the key', () => {
  it('is sent in a header field and never in a URL', async () => {
    const headers: unknown[] = [];
    upstream.answer((request, response) => {
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
      answerDataApiError(400, 'keyInvalid', `API key ${KEY} not valid.`),
      answerDataApiError(400, 'badRequest', `API key ${KEY} not valid.`),
      FAULTS.resetBeforeAnswer,
      FAULTS.resetMidBody,
      FAULTS.garbage,
    ]) {
      upstream.answer(listener);
      expect(inspect(await failureOf(source.getChannel(ID, { signal })), { depth: 10 })).not.toContain(KEY);
    }
  });
});
