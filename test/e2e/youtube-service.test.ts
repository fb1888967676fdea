import type { RequestListener } from 'node:http';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchHit } from '../../src/domain/channel.ts';
import { answerJson } from '../helpers/fake-upstream.ts';
import {
  type ExpectedValues,
  expectedPictures,
  expectTexts,
  finalChannelId,
  isChannelPage,
  isError,
  isFeed,
  isFirstSearchPage,
  isOfDataApi,
  isPanel,
  isResolution,
  readIndexedAnswers,
  targetOfHop,
  withoutOthersOfChannel,
} from '../helpers/indexed-answers.ts';
import {
  type IndexedAnswer,
  jsonAnswer,
  OWN_ANSWERS,
  RECORDING_DIRECTORIES,
  type ReplayAnswer,
} from '../helpers/replay-answers.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

/** Compares the running service with every index of answers: the project's own, and recorded ones if they are available. */
describeService('own test answers', OWN_ANSWERS);
for (const directory of RECORDING_DIRECTORIES) {
  describeService(`recorded answers (${basename(directory)})`, directory);
  if (readIndexedAnswers(directory).some(isOfDataApi)) {
    describeDataApi('recorded answers of the official API', directory);
  }
}

function describeService(name: string, directory: string): void {
  const answers = readIndexedAnswers(directory).filter((answer) => !isOfDataApi(answer));
  const replayed: ReplayAnswer[] = [];
  let running: YoutubeService;

  beforeAll(async () => {
    running = await startYoutubeService({ answers: replayed });
  });
  afterAll(() => running.close());

  /** Replaces upstream's content, and moves the clock until all stored values have expired. */
  function replayWith(answer: IndexedAnswer): void {
    const others = [...answers.flatMap(targetOfHop), ...answers.filter(isFeed).map(pageOfFeed)];
    replayed.splice(0, replayed.length, ...withoutOthersOfChannel(answer, answers), ...others);
    running.service.clock.advance(8 * 24 * 3_600_000);
  }

  const get = async (url: string) => {
    running.replay.forgetCalls();
    const answer = await running.service.get(url);
    return { status: answer.status, body: answer.json<Record<string, unknown>>() };
  };

  describe(`${name}, from the running service`, () => {
    it.each(answers.filter(isChannelPage))('$file: the record', async (answer) => {
      replayWith(answer);
      const page = answer.expected as ExpectedValues;
      const { status, body } = await get(`/api/channel/${answer.request.body?.browseId}`);
      expect(status).toBe(200);
      expectTexts(body, { ...page, ...valuesBehind(page.channelId) });
      const { banner } = expectedPictures(page);
      if (banner !== undefined) expect(body.bannerUrl === null, 'banner').toBe(banner === null);
    });

    it.each(answers.filter(isPanel))('$file: the record with its page', async (answer) => {
      replayWith(answer);
      const panel = answer.expected as ExpectedValues;
      const { body } = await get(`/api/channel/${panel.channelId}`);
      expectTexts(body, { ...panel, ...valuesBehind(panel.channelId) });
    });

    it.each(answers.filter(hasPictures))('$file: the requested originals', async (answer) => {
      replayWith(answer);
      const { request, expected } = answer;
      const pictures = Object.entries(expectedPictures(expected as ExpectedValues));
      for (const [type, base] of pictures) {
        if (base === undefined) continue;
        running.replay.forgetCalls();
        const variant = type === 'banner' ? 'tv' : 'avatar';
        const { status } = await running.service.get(`/${request.body?.browseId}/${variant}`);
        expect([type, status]).toEqual([type, base === null ? 404 : 200]);
        const asked = running.replay.callsTo('image').map(({ path }) => path);
        expect(asked, type).toEqual(base === null ? [] : [`${new URL(base).pathname}=s0`]);
      }
    });

    it.each(answers.filter(isError))('$file: the error', async (answer) => {
      replayWith(answer);
      const { request, expected } = answer;
      const { browseId, url } = request.body ?? {};
      const { status, body } = await get(
        browseId === undefined ? recordUrlOfPage(String(url)) : `/channel/${browseId}`,
      );
      const isGone = (expected as ExpectedValues).error !== 'could_not_tell';
      expect(status === 404, String(status)).toBe(isGone);
      expect(body.code).toEqual(isGone ? 'channel_not_found' : expect.stringContaining('upstream_'));
    });

    it.each(answers.filter(isResolution))('$file: the next requested page', async (answer) => {
      replayWith(answer);
      const { next } = answer.expected as ExpectedValues;
      await get(recordUrlOfPage(String(answer.request.body?.url)));
      const asked = running.replay.callsTo('resolve').map(({ body }) => body?.url);
      expect(asked).toHaveLength(next === undefined ? 1 : 2);
      if (next !== undefined) expect(asked[1]).toBe(next);
      expect(running.replay.callsTo('browse')[0]?.body?.browseId).toBe(finalChannelId(answer, answers));
    });

    it.each(answers.filter(isFeed))('$file: the exact publish date, after the first response', async (answer) => {
      replayWith(answer);
      const { channelId, publishedAt } = answer.expected as ExpectedValues;
      await get(`/api/channel/${channelId}`);
      const found = async () => (await running.service.getLater(`/api/channel/${channelId}`)).json().publishedAt;
      await expect.poll(found).toBe(publishedAt);
    });

    it.each(answers.filter(isFirstSearchPage))('$file: the results', async (answer) => {
      replayWith(answer);
      const { count, firstFive } = answer.expected as { count: number; firstFive: Partial<SearchHit>[] };
      const { body } = await get(`/api/search?q=${answer.request.body?.query}&limit=${count}`);
      const results = body.results as Record<string, unknown>[];
      expect(results).toHaveLength(count);
      for (const [index, { avatar, banner, ...texts }] of firstFive.entries()) {
        expect(results[index]).toMatchObject(texts);
        if (avatar !== undefined) expect(results[index]?.avatarUrl === null).toBe(avatar === 'absent');
        expect(results[index]?.bannerUrl).toContain(String(texts.channelId));
      }
    });

    it.each(answers.filter(isLaterSearchPage))('$file: the results of a longer list', async (answer) => {
      replayWith(answer);
      const { request, expected } = answer;
      const { firstChannelId } = expected as ExpectedValues;
      const query = queryLeadingTo(String(request.body?.continuation));
      const { status, body } = await get(`/api/search?q=${query}&limit=50`);
      const ids = (body.results as { channelId: string }[]).map(({ channelId }) => channelId);
      expect(status).toBe(200);
      if (firstChannelId !== undefined) expect(ids).toContain(firstChannelId);
      const followed = running.replay.callsTo('search').map(({ body: { continuation } = {} }) => continuation);
      expect(followed).toContain(request.body?.continuation);
    });
  });

  /** The other answers about a page's channel: its panel and its feed. */
  function valuesBehind(channelId: unknown): ExpectedValues {
    const of = (filter: typeof isPanel) =>
      answers.filter(filter).find(({ expected }) => (expected as ExpectedValues).channelId === channelId);
    const panel = of(isPanel)?.expected as ExpectedValues | undefined;
    // The feed is read after the first response, so either date may be present now.
    const feed = of(isFeed)?.expected as ExpectedValues | undefined;
    const times = [panel?.publishedAt, feed?.publishedAt].filter((time) => time !== undefined);
    return { ...panel, ...(feed === undefined ? {} : { publishedAt: expect.toBeOneOf(times) }) };
  }

  function queryLeadingTo(continuation: string): unknown {
    return answers.filter(isFirstSearchPage).find(({ text }) => text.includes(continuation))?.request.body?.query;
  }
}

function describeDataApi(name: string, directory: string): void {
  const answers = readIndexedAnswers(directory).filter(isOfDataApi);
  const answerOf = (method: string) => answers.find(({ request }) => request.url.includes(`/v3/${method}?`));
  const channels = answerOf('channels');
  const search = answerOf('search');
  let running: YoutubeService;

  beforeAll(async () => {
    const dataApi: RequestListener = (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://data-api.test');
      if (pathname.endsWith('/search')) return answerJson(JSON.parse(search?.text ?? '{}'))(request, response);
      const list = JSON.parse(channels?.text ?? '{}') as { items: { id: string }[] };
      const items = list.items.filter(({ id }) => id === searchParams.get('id'));
      answerJson({ ...list, items })(request, response);
    };
    running = await startYoutubeService(
      { answers: [], dataApi },
      { env: { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: 'key' } },
    );
  });
  afterAll(() => running.close());

  describe(`${name}, from the running service`, () => {
    it.each(channels?.expected as ExpectedValues[])('$title: record and original', async (expected) => {
      const { service, replay } = running;
      const answer = await service.get(`/api/channel/${expected.channelId}`);
      expectTexts(answer.json(), expected);
      replay.forgetCalls();
      expect((await service.get(`/${expected.channelId}/tv`)).status).toBe(200);
      const { banner } = expectedPictures(expected);
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

const isLaterSearchPage = ({ request }: IndexedAnswer) =>
  request.url.includes('/youtubei/v1/search') && request.body?.continuation !== undefined;

/** A recorded feed may lack its channel's page. */
function pageOfFeed({ expected }: IndexedAnswer): ReplayAnswer {
  const { channelId, title = 'A channel' } = expected as ExpectedValues;
  const metadata = { channelMetadataRenderer: { externalId: channelId, title } };
  return jsonAnswer('browse', { browseId: channelId }, { metadata });
}

const hasPictures = (answer: IndexedAnswer) =>
  isChannelPage(answer) && Object.values(expectedPictures(answer.expected as ExpectedValues)).some(Boolean);

/** The service's URL of the record for an upstream page. */
function recordUrlOfPage(url: string): string {
  const { pathname } = new URL(url);
  return pathname.startsWith('/@') ? `/api/channel/${pathname.slice(2)}?type=handle` : pathname;
}
