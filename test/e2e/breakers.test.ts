import { expect, it, vi } from 'vitest';
import type { TestAppOptions } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { FAULTS, respondWithHtml, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { recordLog } from '../helpers/log.ts';
import { channelsLike, OWN_RESPONSES, readResponses } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { WAIT } from '../helpers/wait.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What YouTube limits apart has a breaker of its own: each kind of call with each way in which it may fail. */

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const CHANNELS = Array.from({ length: 8 }, (_, number) => numberedChannelId(number));
/** Each with an avatar of its own. */
const channels = CHANNELS.flatMap((id) =>
  channelsLike(LIGHTHOUSE, [id]).map((each) => ({ ...each, text: each.text.replaceAll('lighthouse-avatar', id) })),
);
const responses = [...readResponses(OWN_RESPONSES), ...channels];

interface Kind {
  readonly route: Parameters<ReplayServer['misbehave']>[0];
  /** The name of its breaker in `/readyz`. */
  readonly breaker: string;
  /** A request that leads to the call, for each of several keys. */
  readonly url: (key: number) => string;
}

const KINDS = {
  records: { route: 'browse', breaker: 'source youtube', url: (key) => `/api/channel/${CHANNELS[key]}` },
  names: { route: 'resolve', breaker: 'source youtube names', url: (key) => `/api/channel/nobody${key}?type=handle` },
  searches: { route: 'search', breaker: 'source youtube searches', url: (key) => `/api/search?q=light${key}` },
  feeds: { route: 'feed', breaker: 'source youtube feeds', url: (key) => `/api/channel/${CHANNELS[key]}` },
  images: { route: 'image', breaker: 'image hosts', url: (key) => `/${CHANNELS[key]}/avatar.png` },
} satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;

/** What must work while the breaker of another kind is open. */
const OTHERS: Readonly<Partial<Record<KindName, string>>> = {
  records: `/api/channel/${CHANNELS[6]}`,
  names: '/api/channel/BellRockLight?type=handle',
  searches: '/api/search?q=light',
  images: `/${LIGHTHOUSE}/tv.png`,
};

async function start(options: TestAppOptions = {}): Promise<YoutubeService> {
  const running = await startYoutubeForTest({ responses }, { encoder: createFakeEncoder(), ...options });
  await running.service.get(`/api/channel/${LIGHTHOUSE}`);
  running.replay.forgetCalls();
  return running;
}

/** Sends the request of a kind, and waits for the call: feeds are called beside the record. */
async function ask({ service, replay }: YoutubeService, kind: KindName, key: number) {
  const { route, url }: Kind = KINDS[kind];
  const before = replay.callsTo(route).length;
  const response = service.get(url(key));
  await vi.waitFor(() => expect(replay.callsTo(route).length).toBeGreaterThan(before), WAIT);
  return response;
}

async function expectOpen({ service }: YoutubeService, breakers: readonly string[]): Promise<void> {
  const open = async () => (await service.readiness()).conditions.map(({ name }) => name);
  await vi.waitFor(async () => expect(await open()).toEqual(breakers), WAIT);
}

it.each(Object.keys(KINDS) as KindName[])(
  'calls for %s stop at a refusal and at five failures, and no others do',
  async (kind) => {
    const { breaker, route }: Kind = KINDS[kind];
    const running = await start();
    const { service, replay } = running;
    replay.misbehave(route, respondWithStatus(429));
    const { status, headers } = await ask(running, kind, 0);
    await expectOpen(running, [breaker]);
    if (kind !== 'feeds') expect([status, headers['retry-after']]).toEqual([503, '60']);
    for (const [other, url] of Object.entries(OTHERS)) {
      if (other !== kind) expect([other, (await service.get(url)).status]).toEqual([other, 200]);
    }
    replay.behave();
    replay.forgetCalls();
    await service.get(KINDS[kind].url(1));
    expect(replay.callsTo(route)).toEqual([]);
    service.clock.advance(60_000);
    // The request before this one is not repeated so soon.
    await ask(running, kind, 2);
    await expectOpen(running, []);

    // For images, the records come first.
    service.clock.advance(4_000_000);
    for (const id of CHANNELS) await service.get(`/api/channel/${id}`);
    service.clock.advance(kind === 'images' ? 0 : 4_000_000);
    replay.misbehave(route, respondWithStatus(501));
    for (const key of [3, 4, 5, 6]) await ask(running, kind, key);
    await expectOpen(running, []);
    await ask(running, kind, 7);
    await expectOpen(running, [breaker]);
  },
);

it('calls stop when YouTube accepts five of them and sends nothing, and go on when it responds again', async () => {
  const running = await start();
  const { service, replay } = running;
  replay.misbehave('browse', FAULTS.hangBeforeHeaders);
  for (const key of [0, 1, 2, 3, 4]) {
    await expectOpen(running, []);
    const response = service.get(KINDS.records.url(key));
    await vi.waitFor(() => expect(replay.callsTo('browse')).toHaveLength(key + 1), WAIT);
    service.clock.advance(5_000);
    expect((await response).status).toBe(504);
  }
  await expectOpen(running, ['source youtube']);
  replay.behave();
  service.clock.advance(10_000);
  await ask(running, 'records', 5);
  await expectOpen(running, []);
});

it.each([
  ['searches', respondWithJson({ estimatedResults: '0' })],
  ['feeds', respondWithHtml(404)],
] as const)('calls for %s do not stop because nothing is found', async (kind, listener) => {
  const running = await start();
  running.replay.misbehave(KINDS[kind].route, listener);
  for (let key = 0; key < 6; key += 1) await ask(running, kind, key);
  await expectOpen(running, []);
});

it('calls for HTML pages stop at a refusal and at five failures', async () => {
  const running = await start();
  const { service, replay } = running;
  // YouTube refuses the client version, so every record is read from its HTML page.
  replay.misbehave('browse', respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400));
  replay.misbehave('about-page', respondWithStatus(429), 1);
  expect((await service.get(KINDS.records.url(0))).headers['retry-after']).toBe('60');
  await expectOpen(running, ['source youtube pages']);
  for (const url of [OTHERS.searches, OTHERS.images]) expect((await service.get(String(url))).status).toBe(200);
  service.clock.advance(60_000);
  replay.misbehave('about-page', respondWithHtml(404), 1);
  await service.get(KINDS.records.url(1));
  await expectOpen(running, []);
  replay.misbehave('about-page', respondWithStatus(501));
  for (const key of [2, 3, 4, 5, 6]) await service.get(KINDS.records.url(key));
  await expectOpen(running, ['source youtube pages']);
});

it('images stop at the second 403 without an explanation in a row', async () => {
  const running = await start();
  running.replay.misbehave('image', respondWithHtml(403));
  await ask(running, 'images', 0);
  await expectOpen(running, []);
  await ask(running, 'images', 1);
  await expectOpen(running, ['image hosts']);
});

it('a breaker is in the same words in readiness, console, metrics and log', async () => {
  const { lines, logger } = recordLog();
  const { service, replay } = await start({ logger });
  replay.misbehave('search', respondWithStatus(429));
  await service.get('/api/search?q=light');
  const [condition] = (await service.readiness()).conditions;
  expect(condition?.detail).toMatch(/^YouTube’s search refuses this server since .* \(status 429\); next call at /);
  expect(lines.map(({ msg }) => msg)).toContain(condition?.detail);
  const shown = (await service.state()).sources.find(({ name }) => name === 'youtube');
  const paused = { name: 'youtube searches', cause: 'refused', detail: condition?.detail };
  expect(shown).toMatchObject({ conditions: [paused] });
  expect(await service.metric('pennant_source_paused{source="youtube searches",cause="refused"}')).toBe(1);
  const until = 'pennant_source_paused_until_timestamp_seconds{source="youtube searches"}';
  expect(await service.metric(until)).toBe(service.clock.now() / 1_000 + 60);
});
