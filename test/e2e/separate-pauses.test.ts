import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { redirectTo, respondWithHtml, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { channelsLike, OWN_RESPONSES, readResponses } from '../helpers/replay-responses.ts';
import { WAIT } from '../helpers/wait.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const CHANNELS = Array.from({ length: 6 }, (_, number) => numberedChannelId(number));
const responses = [...readResponses(OWN_RESPONSES), ...channelsLike(LIGHTHOUSE, CHANNELS)];

let running: YoutubeService;

async function start() {
  running = await startYoutubeForTest({ responses }, { encoder: createFakeEncoder() });
  return running;
}

async function problems(): Promise<readonly string[]> {
  return (await running.service.readiness()).conditions.map(({ name }) => name);
}

async function statusOf(url: string): Promise<number> {
  return (await running.service.get(url)).status;
}

/** The statuses of new records. */
async function loadRecords(): Promise<number[]> {
  const statuses: number[] = [];
  for (const id of CHANNELS) statuses.push(await statusOf(`/api/channel/${id}`));
  return statuses;
}

const ALL_FOUND = CHANNELS.map(() => 200);

const REFUSALS: readonly (readonly [string, RequestListener])[] = [
  ['"We’re sorry" with 403', respondWithHtml(403)],
  ['429', respondWithStatus(429)],
  ['a redirect to "sorry"', redirectTo('https://www.google.com/sorry/index')],
  ['HTML with 200', respondWithHtml()],
];

describe.each(REFUSALS)('%s', (_name, listener) => {
  it('for a feed pauses feeds only', async () => {
    const { service, replay } = await start();
    replay.misbehave('feed', listener);
    await service.get(`/api/channel/${LIGHTHOUSE}`);
    await vi.waitFor(async () => expect(await problems()).toEqual(['source youtube feeds']), WAIT);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await statusOf(`/${LIGHTHOUSE}/tv.png`)).toBe(200);
    expect(await statusOf('/api/search?q=light')).toBe(200);
    expect(await statusOf('/api/channel/BellRockLight?type=handle')).toBe(200);
    expect(replay.callsTo('feed')).toHaveLength(1);

    replay.behave();
    service.clock.advance(60_000);
    await service.get(`/api/channel/${HARBOUR}`);
    await vi.waitFor(async () => expect(await problems()).toEqual([]), WAIT);
  });

  it('for a search pauses searches only', async () => {
    const { replay } = await start();
    replay.misbehave('search', listener);
    expect(await statusOf('/api/search?q=light')).toBe(503);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await statusOf('/api/channel/BellRockLight?type=handle')).toBe(200);
    expect(await problems()).toEqual(['source youtube searches']);
  });

  it('for a name pauses lookups of names only', async () => {
    const { replay } = await start();
    replay.misbehave('resolve', listener);
    expect(await statusOf('/api/channel/BellRockLight?type=handle')).toBe(503);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await statusOf('/api/search?q=light')).toBe(200);
    expect(await problems()).toEqual(['source youtube names']);
  });

  it('for an image pauses images only', async () => {
    const { replay } = await start();
    replay.misbehave('image', listener);
    expect(await statusOf(`/${LIGHTHOUSE}/tv.png`)).toBeGreaterThan(500);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await statusOf('/api/search?q=light')).toBe(200);
  });

  it('for the HTML page of a channel, whose JSON call is refused, pauses these pages only', async () => {
    const { replay } = await start();
    // With the mask and without it.
    replay.misbehave('browse', respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400), 2);
    replay.misbehave('about-page', listener);
    expect(await statusOf(`/api/channel/${LIGHTHOUSE}`)).toBe(503);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await problems()).toEqual(['source youtube pages']);
  });

  it('for a lookup of the client version pauses nothing', async () => {
    const { replay } = await start();
    const refusal = respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400);
    replay.misbehave('search', refusal);
    replay.misbehave('version', listener);
    for (const query of ['light', 'dark']) expect(await statusOf(`/api/search?q=${query}`)).toBe(502);
    expect(replay.callsTo('version').length).toBeGreaterThan(0);
    expect(await loadRecords()).toEqual(ALL_FOUND);
    expect(await problems()).toEqual([]);
  });
});

describe('a refusal of another kind of call', () => {
  const respondToLostName = (running: YoutubeService): RequestListener => {
    const isLost = () => String(running.replay.callsTo('resolve').at(-1)?.body?.url).endsWith('/vilebrequin');
    return (request, response) => {
      const listener = isLost()
        ? respondWithJson({ error: { code: 404, status: 'NOT_FOUND' } }, 404)
        : respondWithJson({ endpoint: { urlEndpoint: { url: '/vilebrequin' } } });
      listener(request, response);
    };
  };

  it('does not prolong a pause: of names, by a search for a lost handle', async () => {
    const { service, replay } = await start();
    replay.misbehave('resolve', respondWithStatus(429), 1);
    expect(await statusOf('/api/channel/Vilebrequin?type=handle')).toBe(503);
    service.clock.advance(60_000);
    // The trial.
    replay.misbehave('resolve', respondToLostName(running));
    replay.misbehave('search', respondWithStatus(429));
    expect(await statusOf('/api/channel/Vilebrequin?type=handle')).toBe(503);
    replay.behave();
    expect(await statusOf('/api/channel/BellRockLight?type=handle')).toBe(200);
    expect(await problems()).toEqual(['source youtube searches']);
  });

  it('does not prolong a pause: of records, by an HTML page', async () => {
    const { service, replay } = await start();
    replay.misbehave('browse', respondWithStatus(429), 1);
    expect(await statusOf(`/api/channel/${LIGHTHOUSE}`)).toBe(503);
    service.clock.advance(60_000);
    replay.misbehave('browse', respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400), 2);
    replay.misbehave('about-page', respondWithStatus(429));
    expect(await statusOf(`/api/channel/${LIGHTHOUSE}`)).toBe(503);
    expect(await statusOf(`/api/channel/${HARBOUR}`)).toBe(200);
    expect(await problems()).toEqual(['source youtube pages']);
  });
});

describe('feeds that fail', () => {
  it('are paused after five of them, and are no failure of records', async () => {
    const { replay } = await start();
    replay.misbehave('feed', respondWithStatus(200, {}, '<feed>'));
    for (const [index, id] of CHANNELS.slice(0, 5).entries()) {
      expect(await statusOf(`/api/channel/${id}`)).toBe(200);
      await vi.waitFor(() => expect(replay.callsTo('feed')).toHaveLength(index + 1), WAIT);
    }
    await vi.waitFor(async () => expect(await problems()).toEqual(['source youtube feeds']), WAIT);
  });

  it('with 404 are not paused: that says nothing', async () => {
    const { replay } = await start();
    replay.misbehave('feed', respondWithHtml(404));
    expect(await loadRecords()).toEqual(ALL_FOUND);
    await vi.waitFor(() => expect(replay.callsTo('feed')).toHaveLength(CHANNELS.length), WAIT);
    expect(await problems()).toEqual([]);
  });
});

describe('images with 403', () => {
  it('are no reason for a pause while others are there', async () => {
    const { replay } = await start();
    replay.misbehave('image', (request, response) => {
      const listener = request.url?.includes('banner') ? respondWithHtml(403) : respondWithStatus(404);
      listener(request, response);
    });
    for (const path of [`/${LIGHTHOUSE}/tv`, `/${LIGHTHOUSE}/avatar`, `/${HARBOUR}/tv`, `/${HARBOUR}/avatar`]) {
      await statusOf(path);
    }
    expect(await problems()).toEqual([]);
  });

  it('two in a row pause images only', async () => {
    const { replay } = await start();
    replay.misbehave('image', respondWithHtml(403));
    expect(await statusOf(`/${LIGHTHOUSE}/tv`)).toBe(503);
    expect(await problems()).toEqual([]);
    expect(await statusOf(`/${HARBOUR}/avatar`)).toBe(503);
    expect(await problems()).toEqual(['image hosts']);
    expect(await loadRecords()).toEqual(ALL_FOUND);
  });
});

it('five searches that cannot be read pause searches only', async () => {
  const { replay } = await start();
  replay.misbehave('search', respondWithJson({ contents: {} }));
  for (let query = 0; query < 5; query += 1) expect(await statusOf(`/api/search?q=light${query}`)).toBe(502);
  expect(await loadRecords()).toEqual(ALL_FOUND);
  expect(await problems()).toEqual(['source youtube searches']);
});

it('the console shows what of a source is paused', async () => {
  const { service, replay } = await start();
  replay.misbehave('search', respondWithStatus(429));
  await service.get('/api/search?q=light');
  const shown = (await service.state()).sources.find(({ name }) => name === 'youtube');
  expect(shown).toMatchObject({ state: 'ready', problems: [{ name: 'youtube searches', reason: 'refused' }] });
  const { conditions } = await service.readiness();
  expect(shown?.problems.map(({ description }) => description)).toEqual(conditions.map(({ detail }) => detail));
});
