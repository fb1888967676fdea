import type { RequestListener } from 'node:http';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchHit } from '../../src/domain/channel.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import {
  type ExpectedValues,
  expectedImages,
  expectTexts,
  finalChannelId,
  isChannelPage,
  isError,
  isFeed,
  isFirstSearchPage,
  isOfDataApi,
  isPanel,
  isResolution,
  readIndexedResponses,
  targetOfHop,
  withoutOthersOfChannel,
} from '../helpers/indexed-responses.ts';
import {
  type IndexedResponse,
  jsonResponse,
  OWN_RECORDINGS,
  OWN_RESPONSES,
  RECORDING_DIRECTORIES,
  type ReplayResponse,
} from '../helpers/replay-responses.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

/** Compares the running service with every index of responses: the project's own, and recorded ones if they are available. */
describeService('own test responses', OWN_RESPONSES);
for (const directory of [...OWN_RECORDINGS, ...RECORDING_DIRECTORIES]) {
  describeService(`recorded responses (${basename(directory)})`, directory);
  if (readIndexedResponses(directory).some(isOfDataApi)) {
    describeDataApi('recorded responses of the official API', directory);
  }
}

function describeService(name: string, directory: string): void {
  const responses = readIndexedResponses(directory).filter((response) => !isOfDataApi(response));
  const replayed: ReplayResponse[] = [];
  let running: YoutubeService;

  beforeAll(async () => {
    running = await startYoutubeService({ responses: replayed }, { encoder: createFakeEncoder() });
  });
  afterAll(() => running.close());

  /** Replaces upstream's content, and moves the clock until all stored values have expired. */
  function replayWith(response: IndexedResponse): void {
    const others = [...responses.flatMap(targetOfHop), ...responses.filter(isFeed).map(pageOfFeed)];
    replayed.splice(0, replayed.length, ...withoutOthersOfChannel(response, responses), ...others);
    running.service.clock.advance(8 * 24 * 3_600_000);
  }

  const get = async (url: string) => {
    running.replay.forgetCalls();
    const response = await running.service.get(url);
    return { status: response.status, body: response.json<Record<string, unknown>>() };
  };

  describe(`${name}, from the running service`, () => {
    it.each(responses.filter(isChannelPage))('$file: the record', async (response) => {
      replayWith(response);
      const page = response.expected as ExpectedValues;
      const { status, body } = await get(`/api/channel/${response.request.body?.browseId}`);
      expect(status).toBe(200);
      expectTexts(body, { ...page, ...valuesBehind(page.channelId) });
      const { banner } = expectedImages(page);
      if (banner !== undefined) expect(body.bannerUrl === null, 'banner').toBe(banner === null);
    });

    it.each(responses.filter(isPanel))('$file: the record with its page', async (response) => {
      replayWith(response);
      const panel = response.expected as ExpectedValues;
      const { body } = await get(`/api/channel/${panel.channelId}`);
      expectTexts(body, { ...panel, ...valuesBehind(panel.channelId) });
    });

    it.each(responses.filter(hasImages))('$file: the requested originals', async (response) => {
      replayWith(response);
      const { request, expected } = response;
      const images = Object.entries(expectedImages(expected as ExpectedValues));
      for (const [type, base] of images) {
        if (base === undefined) continue;
        running.replay.forgetCalls();
        const variant = type === 'banner' ? 'tv' : 'avatar';
        const { status } = await running.service.get(`/${request.body?.browseId}/${variant}`);
        expect([type, status]).toEqual([type, base === null ? 404 : 200]);
        const asked = running.replay.callsTo('image').map(({ path }) => path);
        expect(asked, type).toEqual(base === null ? [] : [new URL(originalOf(base)).pathname]);
      }
    });

    it.each(responses.filter(isError))('$file: the error', async (response) => {
      replayWith(response);
      const { request, expected } = response;
      const { browseId, url } = request.body ?? {};
      const { status, body } = await get(
        browseId === undefined ? recordUrlOfPage(String(url)) : `/channel/${browseId}`,
      );
      const isGone = (expected as ExpectedValues).error !== 'could_not_tell';
      expect(status === 404, String(status)).toBe(isGone);
      expect(body.code).toEqual(isGone ? 'channel_not_found' : expect.stringContaining('upstream_'));
    });

    it.each(responses.filter(isResolution))('$file: the next requested page', async (response) => {
      replayWith(response);
      const { next } = response.expected as ExpectedValues;
      await get(recordUrlOfPage(String(response.request.body?.url)));
      const asked = running.replay.callsTo('resolve').map(({ body }) => body?.url);
      expect(asked).toHaveLength(next === undefined ? 1 : 2);
      if (next !== undefined) expect(asked[1]).toBe(next);
      expect(running.replay.callsTo('browse')[0]?.body?.browseId).toBe(finalChannelId(response, responses));
    });

    it.each(responses.filter(isFeed))('$file: the exact publish date', async (response) => {
      replayWith(response);
      const { channelId, publishedAt } = response.expected as ExpectedValues;
      const { body } = await get(`/api/channel/${channelId}`);
      expect(body.publishedAt).toBe(publishedAt);
    });

    it.each(responses.filter(isFirstSearchPage))('$file: the results', async (response) => {
      replayWith(response);
      const { count, firstFive } = response.expected as { count: number; firstFive: Partial<SearchHit>[] };
      const { body } = await get(`/api/search?q=${response.request.body?.query}&limit=${Math.max(1, count)}`);
      const results = body.results as Record<string, unknown>[];
      expect(results).toHaveLength(count);
      for (const [index, { avatar, banner, ...texts }] of firstFive.entries()) {
        expect(results[index]).toMatchObject(texts);
        if (avatar !== undefined) expect(results[index]?.avatarUrl === null).toBe(avatar === 'absent');
        expect(results[index]?.bannerUrl).toContain(String(texts.channelId));
      }
    });
  });

  /** The other responses about a page's channel: its panel and its feed. */
  function valuesBehind(channelId: unknown): ExpectedValues {
    const of = (filter: typeof isPanel) =>
      responses.filter(filter).find(({ expected }) => (expected as ExpectedValues).channelId === channelId);
    const panel = of(isPanel)?.expected as ExpectedValues | undefined;
    const feed = of(isFeed)?.expected as ExpectedValues | undefined;
    return { ...panel, ...(feed === undefined ? {} : { publishedAt: feed.publishedAt }) };
  }
}

function describeDataApi(name: string, directory: string): void {
  const responses = readIndexedResponses(directory).filter(isOfDataApi);
  const responseOf = (method: string) => responses.find(({ request }) => request.url.includes(`/v3/${method}?`));
  const channels = responseOf('channels');
  const search = responseOf('search');
  let running: YoutubeService;

  beforeAll(async () => {
    const dataApi: RequestListener = (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://data-api.test');
      if (pathname.endsWith('/search')) return respondWithJson(JSON.parse(search?.text ?? '{}'))(request, response);
      const list = JSON.parse(channels?.text ?? '{}') as { items: { id: string }[] };
      const items = list.items.filter(({ id }) => id === searchParams.get('id'));
      respondWithJson({ ...list, items })(request, response);
    };
    running = await startYoutubeService(
      { responses: [], dataApi },
      { encoder: createFakeEncoder(), env: { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: 'key' } },
    );
  });
  afterAll(() => running.close());

  describe(`${name}, from the running service`, () => {
    it.each(channels?.expected as ExpectedValues[])('$title: record and original', async (expected) => {
      const { service, replay } = running;
      const response = await service.get(`/api/channel/${expected.channelId}`);
      expectTexts(response.json(), expected);
      replay.forgetCalls();
      expect((await service.get(`/${expected.channelId}/tv`)).status).toBe(200);
      const { banner } = expectedImages(expected);
      expect(replay.callsTo('image').map(({ path }) => path)).toEqual([`${new URL(String(banner)).pathname}=s0`]);
    });

    it('a search', async () => {
      const { count, firstChannelId, firstTitle } = { ...(search?.expected as ExpectedValues) };
      const { results } = (await running.service.get('/api/search?q=latin')).json<{ results: object[] }>();
      expect(results).toHaveLength(count as number);
      expect(results[0]).toMatchObject({ channelId: firstChannelId, title: firstTitle });
    });
  });
}

/** A recorded feed may lack its channel's page. */
function pageOfFeed({ expected }: IndexedResponse): ReplayResponse {
  const { channelId, title = 'A channel' } = expected as ExpectedValues;
  const metadata = { channelMetadataRenderer: { externalId: channelId, title } };
  return jsonResponse('browse', { browseId: channelId }, { metadata });
}

const hasImages = (response: IndexedResponse) =>
  isChannelPage(response) && Object.values(expectedImages(response.expected as ExpectedValues)).some(Boolean);

/** One host has images in one size only. */
function originalOf(base: string): string {
  return base.startsWith('https://www.gstatic.com/') ? base : `${base}=s0`;
}

/** The service's URL of the record for an upstream page. */
function recordUrlOfPage(url: string): string {
  const { pathname } = new URL(url);
  return pathname.startsWith('/@') ? `/api/channel/${pathname.slice(2)}?type=handle` : pathname;
}
