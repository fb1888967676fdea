import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { DOWNLOAD_MS } from '../../src/images/download.ts';
import { UPSTREAM_CALL_MS } from '../../src/sources/source.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { FAULTS, redirectTo, respondWithHtml, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { channelsLike, OWN_RESPONSES, readResponses } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { WAIT } from '../helpers/wait.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What YouTube limits apart has a breaker of its own: each kind of call with each way in which it may fail. */

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const CHANNELS = Array.from({ length: 7 }, (_, number) => numberedChannelId(number));
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

/** The other side refuses this address, and for how many seconds no call is made. */
const REFUSALS: [string, RequestListener, number][] = [
  ['429', respondWithStatus(429), 60],
  ['429 with Retry-After', respondWithStatus(429, { 'retry-after': '120' }), 120],
  ['redirect to "sorry"', redirectTo('https://www.google.com/sorry/index'), 60],
  ['HTML page', respondWithHtml(), 60],
];

const NO_RESPONSE = 'no response';

const FAILURES: [string, RequestListener][] = [
  ['status 501', respondWithStatus(501)],
  ['no connection', FAULTS.resetBeforeResponse],
  [NO_RESPONSE, FAULTS.hangBeforeHeaders],
  ['a connection that closes', FAULTS.closeMidBody],
  ['a response that is cut off', FAULTS.cutGzip],
];

/** How long a call without a response lasts. */
const CALL_MS = {
  records: UPSTREAM_CALL_MS,
  names: UPSTREAM_CALL_MS,
  searches: UPSTREAM_CALL_MS,
  images: DOWNLOAD_MS,
};

/** What must work while the breaker of another kind is open. */
const OTHERS: Readonly<Partial<Record<KindName, string>>> = {
  records: `/api/channel/${CHANNELS[6]}`,
  names: '/api/channel/BellRockLight?type=handle',
  searches: '/api/search?q=light',
  images: `/${LIGHTHOUSE}/tv.png`,
};

async function start(): Promise<YoutubeService> {
  const running = await startYoutubeForTest({ responses }, { encoder: createFakeEncoder() });
  await running.service.get(`/api/channel/${LIGHTHOUSE}`);
  running.replay.forgetCalls();
  return running;
}

/** Sends the request of a kind, waits for the call (feeds are called beside the record), and lets the time pass. */
async function ask({ service, replay }: YoutubeService, kind: KindName, key: number, timeoutMs = 0) {
  const { route, url }: Kind = KINDS[kind];
  const before = replay.callsTo(route).length;
  const response = service.get(url(key));
  await vi.waitFor(() => expect(replay.callsTo(route).length).toBeGreaterThan(before), WAIT);
  service.clock.advance(timeoutMs);
  return response;
}

async function expectOpen({ service }: YoutubeService, breakers: readonly string[]): Promise<void> {
  const open = async () => (await service.readiness()).conditions.map(({ name }) => name);
  await vi.waitFor(async () => expect(await open()).toEqual(breakers), WAIT);
}

describe.each(Object.keys(KINDS) as KindName[])('calls for %s', (kind) => {
  const { breaker, route }: Kind = KINDS[kind];

  it.each(REFUSALS)('stop at the first %s, and no other calls do', async (_what, listener, openS) => {
    const running = await start();
    const { service, replay } = running;
    replay.misbehave(route, listener);
    const { status, headers } = await ask(running, kind, 0);
    await expectOpen(running, [breaker]);
    if (kind !== 'feeds') expect([status, headers['retry-after']]).toEqual([503, String(openS)]);
    for (const [other, url] of Object.entries(OTHERS)) {
      if (other !== kind) expect([other, (await service.get(url)).status]).toEqual([other, 200]);
    }
    replay.behave();
    replay.forgetCalls();
    await service.get(KINDS[kind].url(1));
    expect(replay.callsTo(route)).toEqual([]);
    service.clock.advance(openS * 1_000 - 1);
    expect((await service.readiness()).conditions).toHaveLength(1);
    service.clock.advance(1);
    // The request before this one is not repeated so soon.
    await ask(running, kind, 2);
    await expectOpen(running, []);
  });
});

describe.each(Object.keys(KINDS) as KindName[])('calls for %s', (kind) => {
  const { breaker, route }: Kind = KINDS[kind];

  // A feed that does not respond is left alone after 250 ms (youtube-caching.test.ts).
  const failures = FAILURES.filter(([what]) => kind !== 'feeds' || what !== NO_RESPONSE);

  it.each(failures)('stop when the last five, for different keys, end with %s', async (what, listener) => {
    const running = await start();
    const { service, replay } = running;
    if (kind === 'images') for (const id of CHANNELS) await service.get(`/api/channel/${id}`);
    replay.misbehave(route, listener);
    const timeoutMs = what === NO_RESPONSE && kind !== 'feeds' ? CALL_MS[kind] : 0;
    for (let key = 0; key < 4; key += 1) await ask(running, kind, key, timeoutMs);
    await expectOpen(running, []);
    await ask(running, kind, 4, timeoutMs);
    await expectOpen(running, [breaker]);
    const { headers } = await service.get(KINDS[kind].url(5));
    if (kind !== 'feeds') expect(headers['retry-after']).toBe('10');
  });
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

describe('calls for HTML pages', () => {
  /** YouTube refuses the client version, so every record is read from its HTML page. */
  async function startWithPages(listener: RequestListener): Promise<YoutubeService> {
    const running = await start();
    running.replay.misbehave('browse', respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400));
    running.replay.misbehave('about-page', listener);
    return running;
  }

  async function load({ service, replay }: YoutubeService, key: number, timeoutMs: number) {
    const before = replay.callsTo('about-page').length;
    const response = service.get(`/api/channel/${CHANNELS[key]}`);
    await vi.waitFor(() => expect(replay.callsTo('about-page').length).toBeGreaterThan(before), WAIT);
    service.clock.advance(timeoutMs);
    return response;
  }

  it.each(REFUSALS)('stop at the first %s, and no other calls do', async (_what, listener, openS) => {
    const running = await startWithPages(listener);
    const { service, replay } = running;
    const { status, headers } = await load(running, 0, 0);
    expect([status, headers['retry-after']]).toEqual([503, String(openS)]);
    await expectOpen(running, ['source youtube pages']);
    replay.behave();
    for (const url of Object.values(OTHERS)) expect([url, (await service.get(url)).status]).toEqual([url, 200]);
  });

  it.each(FAILURES)('stop with those for records when the last five end with %s', async (what, listener) => {
    const running = await startWithPages(listener);
    const isTimeout = what === NO_RESPONSE;
    for (let key = 0; key < 5; key += 1) {
      await expectOpen(running, []);
      await load(running, key, isTimeout ? UPSTREAM_CALL_MS : 0);
    }
    // A record's calls have five seconds together.
    await expectOpen(running, isTimeout ? ['source youtube'] : ['source youtube', 'source youtube pages']);
  });
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
  const { service, replay } = await start();
  replay.misbehave('search', respondWithStatus(429));
  await service.get('/api/search?q=light');
  const [condition] = (await service.readiness()).conditions;
  expect(condition?.detail).toMatch(/^YouTube’s search refuses this address since .* \(status 429\); next call at /);
  const shown = (await service.state()).sources.find(({ name }) => name === 'youtube');
  const problem = { name: 'youtube searches', reason: 'refused', description: condition?.detail };
  expect(shown).toMatchObject({ state: 'ready', problems: [problem] });
  expect(await service.metric('pennant_source_paused{source="youtube searches",reason="refused"}')).toBe(1);
  const until = 'pennant_source_paused_until_timestamp_seconds{source="youtube searches"}';
  expect(await service.metric(until)).toBe(service.clock.now() / 1_000 + 60);
});
