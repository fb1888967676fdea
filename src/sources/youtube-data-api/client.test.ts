import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeSourceContract } from '../../../test/contracts/source.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { answerDataApi, answerDataApiError, type DataApiItem } from '../../../test/helpers/data-api.ts';
import {
  answerBytes,
  answerJson,
  answerStatus,
  FAULTS,
  type FakeUpstream,
  redirectTo,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { RECORDING_DIRECTORIES, readAnswers } from '../../../test/helpers/replay-answers.ts';
import { WAIT } from '../../../test/helpers/wait.ts';
import type { Channel } from '../../domain/channel.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import { MAX_BYTES_ON_EVENT_LOOP } from '../../lib/http/body-reader.ts';
import { QuotaSpentError } from '../../lib/http/call-budget.ts';
import { createHttpClient } from '../../lib/http/client.ts';
import type { SourceWithDates } from '../source.ts';
import { createYoutubeDataApiSource } from './client.ts';
import { DataApiRefusal } from './errors.ts';

const KEY = 'a-key-that-nobody-may-see';
const ID = 'UCPennantSample00000001A';
const OTHER_ID = 'UCPennantSample00000002A';

const CHANNELS: DataApiItem[] = [
  {
    id: ID,
    snippet: {
      title: 'Sample & Friends',
      description: 'About\nsamples',
      customUrl: '@sample',
      publishedAt: '2012-03-04T05:06:07.891Z',
      country: 'NZ',
      thumbnails: {
        default: { url: 'https://yt3.ggpht.com/ytc/avatar=s88-c-k-c0x00ffffff-no-rj' },
        high: { url: 'https://yt3.ggpht.com/ytc/avatar=s800-c-k-c0x00ffffff-no-rj' },
      },
    } as DataApiItem['snippet'],
    statistics: { viewCount: '123456789012', subscriberCount: '4500', hiddenSubscriberCount: false, videoCount: '0' },
    brandingSettings: { image: { bannerExternalUrl: 'https://yt3.googleusercontent.com/banner' } },
  },
  {
    id: OTHER_ID,
    snippet: { title: 'Sample two', description: '' },
    statistics: { viewCount: '5', subscriberCount: '0', hiddenSubscriberCount: true, videoCount: '1' },
    brandingSettings: {},
  },
  { id: 'UCPennantSample00000003A', snippet: { title: 'Sample three' } },
];

const dataApi = answerDataApi({ channels: CHANNELS, usernames: { olduser: ID }, apiKey: KEY });

async function setUp(apiKey = KEY) {
  const upstream = await startFakeUpstream(dataApi);
  const http = createHttpClient({
    allowedOrigins: [upstream.origin],
    followRedirects: false,
    userAgent: 'pennant-test',
  });
  const clock = createManualClock();
  const quotas = { unitsPerDay: 10_000, searchesPerDay: 100 };
  const source = createYoutubeDataApiSource({ http, origin: upstream.origin, apiKey, clock, ...quotas });
  return { upstream, source };
}

describeSourceContract('youtube-data-api', async () => {
  const { upstream, source } = await setUp();
  return {
    source,
    known: { channelId: ID, title: 'Sample & Friends', handle: 'sample' },
    knownUsername: 'olduser',
    unknown: { channelId: 'UCPennantSample00000009A', handle: 'nobody', username: 'nobody' },
    queryWithHits: 'sample',
    queryWithoutHits: 'nothing like this',
    breakUpstream: () => upstream.answer(answerStatus(503)),
    stallUpstream: () => upstream.answer(FAULTS.hangBeforeHeaders),
    tearDown: () => upstream.close(),
  };
});

let upstream: FakeUpstream;
let source: SourceWithDates;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ upstream, source } = await setUp());
});
afterEach(async () => {
  await source.close();
  await upstream.close();
});

async function failureOf(answer: Promise<unknown>): Promise<AppError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

describe('a record of the official API', () => {
  it('has every field that the answer has, and no links', async () => {
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
    expect(channel.banner).toMatchObject({ urls: expect.arrayContaining([expect.stringMatching(/banner=s0$/)]) });
  });

  it('has null for what is hidden or not there', async () => {
    const { channel } = await source.getChannel(OTHER_ID, { signal });
    expect(channel).toMatchObject({
      description: '',
      customUrl: null,
      publishedAt: null,
      country: null,
      subscriberCount: null,
      viewCount: '5',
      banner: null,
      avatar: null,
    });
  });

  it('costs one call, by whatever name', async () => {
    const { loaded } = await source.resolve({ kind: 'handle', value: 'sample', key: 'sample' }, { signal });
    expect(loaded?.channel.channelId).toBe(ID);
    expect(upstream.requests).toHaveLength(1);
    expect(source.status?.().quotas).toContainEqual({ name: 'units', spent: 1, perDay: 10_000 });
  });

  it('knows the second the channel was created', async () => {
    expect(await source.findPublishedAt(ID, { signal })).toBe('2012-03-04T05:06:07Z');
  });
});

describe('a search of the official API', () => {
  it('undoes the escapes that only searches have', async () => {
    const snippet = { title: 'Tom &amp; Jerry&#39;s &quot;&lt;3&quot;', description: 'a &amp;amp; b' };
    const items = [{ id: { channelId: ID }, snippet }];
    upstream.answer(answerJson({ kind: 'youtube#searchListResponse', items }));
    const [hit] = (await source.search('tom', 5, { signal })).hits;
    expect(hit).toMatchObject({ title: `Tom & Jerry's "<3"`, description: 'a &amp; b', avatar: 'unknown' });
  });

  it('leaves out what is no channel', async () => {
    const video = { id: { kind: 'youtube#video', videoId: 'x' }, snippet: { channelId: ID, title: 'A video' } };
    const channel = { id: { channelId: OTHER_ID }, snippet: { title: 'Sample two' } };
    for (const [items, found] of [
      [[video, null, { id: { playlistId: 'y' }, snippet: { channelId: ID, title: 'A list' } }], []],
      [[video, { id: { channelId: ID } }, channel], [OTHER_ID]],
    ]) {
      upstream.answer(answerJson({ kind: 'youtube#searchListResponse', items }));
      const { hits } = await source.search('q', 5, { signal });
      expect(hits.map(({ channelId }) => channelId)).toEqual(found);
    }
  });

  it('is no empty list where none of its channels can be read', async () => {
    upstream.answer(answerJson({ kind: 'youtube#searchListResponse', items: [{ id: { channelId: ID } }] }));
    expect((await failureOf(source.search('q', 5, { signal }))).code).toBe('upstream_invalid');
  });

  it('stops at the searches that may be made at once, and says that it is the quota', async () => {
    for (let done = 0; done < 20; done += 1) await source.search('sample', 1, { signal });
    const error = await failureOf(source.search('sample', 1, { signal }));
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expect.stringContaining('quota') });
    expect(upstream.requests).toHaveLength(20);
    await expect(source.getChannel(ID, { signal })).resolves.toBeDefined();
  });

  it('is not asked for again today once the API says that its quota is spent', async () => {
    upstream.answer(answerDataApiError(403, 'quotaExceeded'));
    await failureOf(source.search('q', 5, { signal }));
    upstream.answer(dataApi);
    expect(await failureOf(source.search('sample', 1, { signal }))).toBeInstanceOf(QuotaSpentError);
    await expect(source.getChannel(ID, { signal })).resolves.toBeDefined();
  });

  it('that is rejected is never "no such channel"', async () => {
    upstream.answer(answerDataApiError(400, 'badRequest'));
    expect((await failureOf(source.search('q', 5, { signal }))).code).toBe('upstream_invalid');
  });
});

describe('an unknown channel', () => {
  it.each([
    ['an empty list', answerJson({ kind: 'youtube#channelListResponse', items: [] })],
    ['no list', answerJson({ kind: 'youtube#channelListResponse', pageInfo: { totalResults: 0 } })],
    ['a 404', answerDataApiError(404, 'channelNotFound', 'The channel cannot be found.')],
  ])('is certain from %s', async (_name, listener) => {
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
  ])('is not concluded from %s', async (_name, listener, code) => {
    upstream.answer(listener);
    expect((await failureOf(source.getChannel(ID, { signal }))).code).toBe(code);
  });
});

describe('a list of channels', () => {
  it('may hold items that are none', async () => {
    const items = [null, { kind: 'youtube#video', id: 'x', snippet: { title: 'A video' } }, CHANNELS[0]];
    upstream.answer(answerJson({ kind: 'youtube#channelListResponse', items }));
    const { loaded } = await source.resolve({ kind: 'handle', value: 'sample', key: 'sample' }, { signal });
    expect(loaded?.channel.title).toBe('Sample & Friends');
    expect((await source.getChannel(ID, { signal })).channel.title).toBe('Sample & Friends');
  });
});

describe('an answer that is too long for the event loop', () => {
  const padding = 'x'.repeat(MAX_BYTES_ON_EVENT_LOOP);
  const list = (items: readonly unknown[]) => answerJson({ kind: 'youtube#channelListResponse', padding, items });

  it('gives the same record', async () => {
    const short = await source.getChannel(ID, { signal });
    upstream.answer(list(CHANNELS));
    expect(await source.getChannel(ID, { signal })).toEqual(short);
  });

  it('is unusable where it is a list of anything', async () => {
    upstream.answer(list(Array.from({ length: 300_000 }, () => ({}))));
    await expect(source.getChannel(ID, { signal })).rejects.toMatchObject({ code: 'upstream_invalid' });
  });
});

describe('a refusal', () => {
  it.each([
    [403, 'quotaExceeded', '', 'quota_exceeded'],
    [403, 'dailyLimitExceeded', '', 'quota_exceeded'],
    [403, 'rateLimitExceeded', '', 'rate_limited'],
    [429, 'anything', '', 'rate_limited'],
    [400, 'keyInvalid', '', 'key_refused'],
    [400, 'badRequest', 'API key not valid. Please pass a valid API key.', 'key_refused'],
    [400, 'badRequest', 'API key expired. Please renew the API key.', 'key_refused'],
    [403, 'accessNotConfigured', '', 'key_refused'],
    [403, 'channelClosed', '', 'channel_refused'],
    [403, 'channelForbidden', '', 'channel_refused'],
    [403, 'channelNotFound', '', 'channel_refused'],
    [403, 'channelSuspended', '', 'channel_refused'],
    [403, 'forbidden', '', 'refused'],
    [401, 'authError', '', 'refused'],
  ])('with %i %s %s has a name', async (status, reason, message, expected) => {
    upstream.answer(answerDataApiError(status, reason, message));
    const error = await failureOf(source.getChannel(ID, { signal }));
    expect(error).toBeInstanceOf(DataApiRefusal);
    const scope = expected === 'channel_refused' ? 'key' : 'upstream';
    expect(error).toMatchObject({ code: 'upstream_unavailable', reason: expected, scope });
  });
});

describe('the key', () => {
  it('is sent in a header and never in a URL', async () => {
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

  it('never shows in an error, even where upstream repeats it', async () => {
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

interface ExpectedChannel extends Partial<Channel> {
  readonly channelId: string;
  readonly bannerBase: string;
}

interface ExpectedSearch {
  readonly count: number;
  readonly firstChannelId: string;
  readonly firstTitle: string;
}

describe.each(RECORDING_DIRECTORIES.slice(0, 1))('the recordings', (directory) => {
  const recordings = readAnswers(directory);

  /** Answers with a recording from here on. @returns what its index expects */
  function replay(file: string): unknown {
    const recording = recordings.find((each) => each.file === file);
    upstream.answer(answerJson(JSON.parse(recording?.text ?? '')));
    return recording?.expected;
  }

  it('of channels.list give the expected records', async () => {
    const expected = replay('dataapi-channels-list-google-multi.json') as ExpectedChannel[];
    expect(expected).toHaveLength(2);
    for (const { bannerBase, ...fields } of expected) {
      const { channel } = await source.getChannel(fields.channelId, { signal });
      expect(channel).toMatchObject(fields);
      expect(channel.banner?.key).toBe(bannerBase);
    }
  });

  it('of search.list give the expected hits', async () => {
    const expected = replay('dataapi-search-list-channels.json') as ExpectedSearch;
    const { hits } = await source.search('q', 50, { signal });
    expect(hits).toHaveLength(expected.count);
    expect(hits[0]).toMatchObject({ channelId: expected.firstChannelId, title: expected.firstTitle });
  });
});

it('closes its connections with itself', async () => {
  await source.getChannel(ID, { signal });
  expect(upstream.openSockets()).toBe(1);
  await source.close();
  await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), WAIT);
});
