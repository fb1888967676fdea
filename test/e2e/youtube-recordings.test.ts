import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchHit } from '../../src/domain/channel.ts';
import { findHandle, findUsername } from '../../src/domain/identifier.ts';
import { expectWellFormedChannel } from '../contracts/source.ts';
import {
  type ExpectedValues,
  expectRecord,
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
import { OWN_RESPONSES, RECORDING_DIRECTORIES, type ReplayResponse } from '../helpers/replay-responses.ts';
import { type ReplayServer, startReplayServer } from '../helpers/replay-server.ts';
import { createTestYoutubeSource } from '../helpers/youtube-source.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
/** What `pennant doctor --record` has written into `test/fixtures/youtube-…`. */
const OWN_RECORDINGS = readdirSync(FIXTURES)
  .filter((name) => name.startsWith('youtube-'))
  .map((name) => join(FIXTURES, name));

describeResponses('own test responses', OWN_RESPONSES);
for (const directory of [...OWN_RECORDINGS, ...RECORDING_DIRECTORIES]) {
  describeResponses(`recorded responses (${basename(directory)})`, directory);
}

function describeResponses(name: string, directory: string): void {
  const responses = readIndexedResponses(directory).filter((response) => !isOfDataApi(response));
  const replayed: ReplayResponse[] = [...responses, ...responses.flatMap(targetOfHop)];
  const signal = new AbortController().signal;
  let replay: ReplayServer;
  let source: ReturnType<typeof createTestYoutubeSource>;

  beforeAll(async () => {
    replay = await startReplayServer({ responses: replayed });
    source = createTestYoutubeSource(replay.origin);
  });
  afterAll(async () => {
    await source.close();
    await replay.close();
  });

  describe.each([true, false])(`${name}, over sockets, field mask %s`, (useFieldMask) => {
    it.each(responses.filter(isChannelPage))('$file gives the record', async (response) => {
      const { request, expected } = response;
      replayed.splice(
        0,
        replayed.length,
        ...withoutOthersOfChannel(response, responses),
        ...responses.flatMap(targetOfHop),
      );
      const page = expected as ExpectedValues;
      const masked = createTestYoutubeSource(replay.origin, { useFieldMask });
      const { channel } = await masked.getChannel(String(request.body?.browseId), { signal });
      await masked.close();
      expectRecord(channel, page, panelValues(page.channelId));
      expectWellFormedChannel(channel);
    });
  });

  describe(`${name}, over sockets`, () => {
    it.each(responses.filter(isPanel))('$file gives the record together with its page', async ({ expected }) => {
      const panel = expected as ExpectedValues;
      const { channel, isComplete } = await source.getChannel(String(panel.channelId), { signal });
      expectRecord(channel, {}, panel);
      expect(isComplete).toBe(true);
    });

    it.each(responses.filter(isError))('$file gives the error', async ({ request, expected }) => {
      const { browseId, url } = request.body ?? {};
      const response =
        browseId === undefined
          ? source.resolve(refOfPage(String(url)), { signal })
          : source.getChannel(String(browseId), { signal });
      await expectError(response, expected as ExpectedValues);
    });

    it.each(responses.filter(isResolution))('$file resolves to its channel', async (response) => {
      const resolution = await source.resolve(refOfPage(String(response.request.body?.url)), { signal });
      expect(resolution.channelId).toBe(finalChannelId(response, responses));
    });

    it.each(responses.filter(isFirstSearchPage))('$file gives the hits without a second call', async (response) => {
      replay.forgetCalls();
      const expected = response.expected as ExpectedValues;
      const limit = Number(expected.count);
      const { hits } = await source.search(String(response.request.body?.query), limit, { signal });
      expectHits(hits, expected);
      expect(replay.callsTo('search')).toHaveLength(1);
    });

    it.each(responses.filter(isFeed))('$file gives the exact publish date', async ({ expected }) => {
      const { channelId, publishedAt } = expected as ExpectedValues;
      expect(await source.findPublishedAt(String(channelId), { signal })).toBe(publishedAt);
    });
  });

  function panelValues(channelId: unknown): ExpectedValues | undefined {
    const panel = responses
      .filter(isPanel)
      .find(({ expected }) => (expected as ExpectedValues).channelId === channelId);
    return panel?.expected as ExpectedValues | undefined;
  }
}

function refOfPage(url: string) {
  const [, first = '', second = ''] = decodeURIComponent(new URL(url).pathname).split('/');
  const handle = findHandle(first);
  const ref = first === 'user' ? findUsername(second) : handle;
  if (ref === undefined) throw new Error(`no name in ${url}`);
  return ref;
}

function expectHits(hits: readonly SearchHit[], expected: ExpectedValues): void {
  expect(hits).toHaveLength(expected.count as number);
  const firstFive = (expected.firstFive ?? []) as object[];
  for (const [index, values] of firstFive.entries()) expect(hits[index]).toMatchObject(values);
}

const CODES: Readonly<Record<string, string>> = {
  not_found: 'channel_not_found',
  terminated: 'channel_not_found',
  could_not_tell: 'upstream_',
};

async function expectError(response: Promise<unknown>, expected: ExpectedValues): Promise<void> {
  const code = CODES[String(expected.error)];
  await expect(response).rejects.toMatchObject({ name: 'AppError', code: expect.stringContaining(code ?? 'unknown') });
}
