import { afterEach, describe, expect, it } from 'vitest';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { OWN_RESPONSES, type ReplayResponse, readResponses } from '../helpers/replay-responses.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const RECORD = '/api/channel/UCreplayLighthouse000001';
const MINUTE_MS = 60_000;

let running: YoutubeService;
afterEach(() => running.close());

async function start(env: Record<string, string>, responses: readonly ReplayResponse[] = readResponses(OWN_RESPONSES)) {
  running = await startYoutubeService({ responses }, { env });
  return running;
}

async function conditions(): Promise<object[]> {
  const response = await running.service.console('/readyz');
  expect(response.status).toBe(200);
  return response.json<{ conditions: object[] }>().conditions;
}

async function metrics(): Promise<string> {
  return (await running.service.console('/metrics')).text;
}

describe('the canary of a service', () => {
  it('is loaded without any cache and leaves the stored record unchanged', async () => {
    const { service, replay } = await start({ YOUTUBE_CANARY: '@BellRockLight' });
    await service.app.runDueWork();
    service.clock.advance(30 * MINUTE_MS);
    await service.get(RECORD);
    const before = replay.callsTo('search').length;
    service.clock.advance(30 * MINUTE_MS);
    await service.app.runDueWork();
    expect(replay.callsTo('search').length - before).toBe(1);
    expect((await service.get(RECORD)).headers['cache-status']).toBe('pennant; hit; ttl=1800');
    expect(await conditions()).toEqual([]);
    const text = await metrics();
    expect(text).toContain('pennant_youtube_canary_field_gone{field="country"} 0');
    // Unix time, as Prometheus's time() is.
    expect(text).toContain(`pennant_youtube_canary_checked_timestamp_seconds ${service.clock.now() / 1_000}\n`);
  });

  it('reports a missing field as a condition, in the metrics and on the console, and the service stays ready', async () => {
    const responses = readResponses(OWN_RESPONSES) as ReplayResponse[];
    const { service } = await start({ YOUTUBE_CANARY: 'UCreplayLighthouse000001' }, responses);
    await service.app.runDueWork();
    for (const [index, response] of responses.entries()) {
      responses[index] = { ...response, text: response.text.replaceAll('joinedDateText', 'joinedText') };
    }
    service.clock.advance(60 * MINUTE_MS);
    await service.app.runDueWork();
    const detail = 'no longer found with UCreplayLighthouse000001: publishedAt';
    expect(await conditions()).toEqual([{ name: 'YouTube canary', detail, isBlocking: false }]);
    expect(await metrics()).toContain('pennant_youtube_canary_field_gone{field="publishedAt"} 1');
    const state = await service.state();
    expect(state.sources[0]).toMatchObject({ status: { canary: { gone: ['publishedAt'], failure: null } } });
  });

  it('never pauses the source by its failures, because they concern one channel', async () => {
    const { service, replay } = await start({ YOUTUBE_CANARY: '@BellRockLight' });
    replay.misbehave('all', respondWithStatus(501));
    for (let run = 0; run < 30; run += 1) {
      await service.app.runDueWork();
      service.clock.advance(100);
    }
    for (let run = 0; run < 30; run += 1) {
      service.clock.advance(5 * MINUTE_MS);
      await service.app.runDueWork();
    }
    expect(await conditions()).toEqual([
      expect.objectContaining({ name: 'YouTube canary', detail: expect.stringContaining('status 501') }),
    ]);
    replay.behave();
    expect((await service.get(RECORD)).status).toBe(200);
  });

  it('is off when no channel is set', async () => {
    const { service, replay } = await start({});
    await service.app.runDueWork();
    expect(replay.callsTo('browse')).toHaveLength(0);
    expect(await metrics()).not.toContain('canary');
  });
});
