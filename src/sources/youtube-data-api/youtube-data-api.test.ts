import { beforeEach, describe, expect, it, vi } from 'vitest';
import { describeSourceContract } from '../../../test/contracts/source.ts';
import {
  CHANNELS,
  createTestDataApiSource,
  dataApi,
  ID,
  respondWithDataApiError,
  startDataApiSource,
} from '../../../test/helpers/data-api.ts';
import { failureOf } from '../../../test/helpers/failure.ts';
import {
  FAULTS,
  type FakeUpstream,
  respondWithJson,
  respondWithStatus,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { WAIT } from '../../../test/helpers/wait.ts';
import { BreakerOpenError } from '../../lib/breaker.ts';
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
    expect(channel.banner).toMatchObject({ urls: expect.arrayContaining([expect.stringMatching(/banner=s0$/)]) });
  });

  it('has null for values that are hidden or absent', async () => {
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

  it('takes one call, by any kind of name', async () => {
    const { loaded } = await source.resolve({ kind: 'handle', value: 'sample', key: 'sample' }, { signal });
    expect(loaded?.channel.channelId).toBe(ID);
    expect(upstream.requests).toHaveLength(1);
    expect(source.status?.().quotas).toContainEqual({ name: 'units', spent: 1, perDay: 10_000 });
  });
});

describe('a search of the official API', () => {
  it('decodes the escapes that only searches have', async () => {
    const snippet = { title: 'Tom &amp; Jerry&#39;s &quot;&lt;3&quot;', description: 'a &amp;amp; b' };
    const items = [{ id: { channelId: ID }, snippet }];
    upstream.response(respondWithJson({ kind: 'youtube#searchListResponse', items }));
    const [hit] = (await source.search('tom', 5, { signal })).hits;
    expect(hit).toMatchObject({ title: `Tom & Jerry's "<3"`, description: 'a &amp; b', avatar: 'unknown' });
  });

  it('omits items that are no channel', async () => {
    const video = { id: { kind: 'youtube#video', videoId: 'x' }, snippet: { channelId: ID, title: 'A video' } };
    const channel = { id: { channelId: OTHER_ID }, snippet: { title: 'Sample two' } };
    for (const [items, found] of [
      [[video, null, { id: { playlistId: 'y' }, snippet: { channelId: ID, title: 'A list' } }], []],
      [[video, { id: { channelId: ID } }, channel], [OTHER_ID]],
    ]) {
      upstream.response(respondWithJson({ kind: 'youtube#searchListResponse', items }));
      const { hits } = await source.search('q', 5, { signal });
      expect(hits.map(({ channelId }) => channelId)).toEqual(found);
    }
  });

  it('is an error, not an empty list, if none of its channels is readable', async () => {
    upstream.response(respondWithJson({ kind: 'youtube#searchListResponse', items: [{ id: { channelId: ID } }] }));
    expect((await failureOf(source.search('q', 5, { signal }))).code).toBe('upstream_invalid');
  });

  it('is not sent again on the same day after the API has reported that its quota is used up', async () => {
    upstream.response(respondWithDataApiError(403, 'quotaExceeded'));
    await failureOf(source.search('q', 5, { signal }));
    upstream.response(dataApi);
    expect(await failureOf(source.search('sample', 1, { signal }))).toBeInstanceOf(BreakerOpenError);
    await expect(source.getChannel(ID, { signal })).resolves.toBeDefined();
  });

  it('that is rejected is never "no such channel"', async () => {
    upstream.response(respondWithDataApiError(400, 'badRequest'));
    expect((await failureOf(source.search('q', 5, { signal }))).code).toBe('upstream_invalid');
  });
});

describe('a list of channels', () => {
  it('may contain items that are no channel', async () => {
    const items = [null, { kind: 'youtube#video', id: 'x', snippet: { title: 'A video' } }, CHANNELS[0]];
    upstream.response(respondWithJson({ kind: 'youtube#channelListResponse', items }));
    const { loaded } = await source.resolve({ kind: 'handle', value: 'sample', key: 'sample' }, { signal });
    expect(loaded?.channel.title).toBe('Sample & Friends');
    expect((await source.getChannel(ID, { signal })).channel.title).toBe('Sample & Friends');
  });
});

it('a closed client closes its connections', async () => {
  await source.getChannel(ID, { signal });
  expect(upstream.openSockets()).toBe(1);
  await source.close();
  await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), WAIT);
});
