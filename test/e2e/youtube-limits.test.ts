import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { FAULTS, respondWithJson } from '../helpers/fake-upstream.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import { WAIT } from '../helpers/wait.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const HOUR_MS = 3_600_000;

let running: YoutubeService;

async function start(env: Record<string, string> = {}, clock = createManualClock()): Promise<YoutubeService> {
  running = await startYoutubeForTest({}, { env, clock, encoder: createFakeEncoder() });
  return running;
}

function askForUnknownChannels(count: number) {
  const urls = Array.from({ length: count }, (_, index) => `/api/channel/UCnobody${String(index).padStart(16, '0')}`);
  return Promise.all(urls.map((url) => running.service.get(url)));
}

async function conditions(): Promise<{ name: string; detail: string }[]> {
  const reply = await running.service.console('/readyz');
  expect(reply.status, 'a failing upstream is no reason to take the service out').toBe(200);
  return reply.json<{ conditions: { name: string; detail: string }[] }>().conditions;
}

describe('the budget of upstream calls', () => {
  it('is never exceeded: a call waits at most two seconds, then the response is a 503 with Retry-After', async () => {
    const { service, replay } = await start({ UPSTREAM_CALLS_PER_SECOND: '1' });
    await service.get(`/api/channel/${LIGHTHOUSE}`);
    service.clock.advance(HOUR_MS + 1);
    replay.forgetCalls();
    const asked = askForUnknownChannels(20);
    await vi.waitFor(() => expect(replay.calls.length).toBeGreaterThanOrEqual(10), WAIT);
    const old = await service.get(`/api/channel/${LIGHTHOUSE}`);
    service.clock.advance(2_000);
    const replies = await asked;
    const refused = replies.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThanOrEqual(8);
    for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    // Ten at once, and two whose turn comes within two seconds.
    expect(replay.calls.length).toBeLessThanOrEqual(12);

    expect([old.status, old.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
    expect(await conditions(), 'a limit of our own says nothing about upstream').toEqual([]);
  });

  it('applies to the image hosts as well', async () => {
    const env = { UPSTREAM_CALLS_PER_SECOND: '1' };
    running = await startYoutubeForTest({}, { env, sources: [numberedSource()], encoder: createFakeEncoder() });
    const { service, replay } = running;
    const statuses: number[] = [];
    const asked = Array.from({ length: 20 }, async (_, number) => {
      const { status, headers } = await service.get(`/${numberedChannelId(number)}/avatar`);
      statuses.push(status);
      // By then one more call has its turn.
      if (status === 503) expect(headers['retry-after']).toBe('3');
    });
    const countOf = (wanted: number) => statuses.filter((status) => status === wanted).length;
    // Ten at once, and two whose turn comes within two seconds.
    await vi.waitFor(() => expect([countOf(200), countOf(503)]).toEqual([10, 8]), WAIT);
    service.clock.advance(2_000);
    await Promise.all(asked);
    expect([countOf(200), countOf(503), replay.callsTo('image').length]).toEqual([12, 8, 12]);
  });

  it('is shared by network: clients of others are served while 254 addresses of one network ask', async () => {
    const settings = { UPSTREAM_CALLS_PER_SECOND: '20', TRUST_PROXY: '127.0.0.0/8', RATE_LIMIT_OVERRIDES: '' };
    const { service } = await start(settings);
    const ask = (client: string, url: string) => service.get(url, { 'x-forwarded-for': client });
    const hogs = Array.from({ length: 254 }, (_, index) => ask(`192.0.2.${index}`, `/api/search?q=hog-${index}`));
    const channels = [LIGHTHOUSE, HARBOUR, 'UCreplayQuarry0000000003', 'UCreplayGameTopic0000006'];
    let isAnswered = false;
    const answering = Promise.all(
      channels.map((channelId, index) => ask(`198.51.${index}.1`, `/api/channel/${channelId}`)),
    );
    void answering.finally(() => {
      isAnswered = true;
    });
    const strangers = vi
      .waitUntil(() => {
        service.clock.advance(10);
        return isAnswered;
      }, WAIT)
      .then(() => answering);
    expect((await strangers).map(({ status }) => status)).toEqual(channels.map(() => 200));
    service.clock.advance(2_000);
    const refused = (await Promise.all(hogs)).filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
  });
});

describe('the time that one request may take', () => {
  it('is twelve seconds, even if each single call is within its own limit', async () => {
    const { service, replay } = await start();
    const resolved = Promise.withResolvers<void>();
    const loaded = Promise.withResolvers<void>();
    const respondAfter = (turn: Promise<void>, reply: object): RequestListener => {
      return (request, response) => void turn.then(() => respondWithJson(reply)(request, response));
    };
    replay.misbehave(
      'resolve',
      respondAfter(resolved.promise, { endpoint: { browseEndpoint: { browseId: LIGHTHOUSE } } }),
    );
    replay.misbehave('browse', respondAfter(loaded.promise, ownResponse('browseId', LIGHTHOUSE)));
    replay.misbehave('image', FAULTS.hangBeforeHeaders);
    const responding = service.get('/@BellRockLight/tv');
    await vi.waitFor(() => expect(replay.callsTo('resolve')).toHaveLength(1), WAIT);
    service.clock.advance(4_500);
    resolved.resolve();
    await vi.waitFor(() => expect(replay.callsTo('browse')).toHaveLength(1), WAIT);
    service.clock.advance(4_500);
    loaded.resolve();
    await vi.waitFor(() => expect(replay.callsTo('image')).toHaveLength(1), WAIT);
    service.clock.advance(2_500);
    const reply = await responding;
    expect([reply.status, reply.json().code]).toEqual([504, 'upstream_timeout']);
    expect(reply.headers['retry-after']).toBeDefined();
  });
});
