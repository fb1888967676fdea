import { beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import type { InProcessResponse } from '../helpers/in-process.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const MOVED_TO_LIGHTHOUSE = 'UCreplayMovedAway0000009';
const URL = `/api/channel/${LIGHTHOUSE}`;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
beforeEach(async () => {
  running = await startYoutubeForTest({}, { dataDir: await createDataDir() });
  ({ service, replay } = running);
});

/** The complete record, including the fields that are filled in after the first response. */
async function loadWholeRecord(): Promise<Record<string, unknown>> {
  let record: Record<string, unknown> = {};
  const publishedAt = async () => {
    record = (await service.getLater(URL)).json();
    return record.publishedAt;
  };
  await expect.poll(publishedAt).toBe('2011-02-01T06:30:15Z');
  return record;
}

function losePanel(): void {
  replay.misbehave('about', respondWithStatus(500));
}

function expectForAMinute(response: InProcessResponse): void {
  expect([response.status, response.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
}

describe('a record whose panel cannot be loaded', () => {
  it('keeps the last good values of missing fields beside new values', async () => {
    const whole = await loadWholeRecord();
    const page = JSON.stringify(ownResponse('browseId', LIGHTHOUSE)).replaceAll('Bell Rock Light', 'Bell Rock');
    replay.misbehave('browse', respondWithJson(JSON.parse(page)));
    losePanel();
    service.clock.advance(HOUR_MS + 1);
    const partial = await service.get(URL);
    expectForAMinute(partial);
    expect(partial.json()).toEqual({ ...whole, title: 'Bell Rock' });
  });

  it('does not replace a complete one when it is loaded by another ID', async () => {
    const whole = await loadWholeRecord();
    losePanel();
    const moved = await service.get(`/api/channel/${MOVED_TO_LIGHTHOUSE}`);
    expect([moved.status, moved.json()]).toEqual([200, whole]);
    expect((await service.get(URL)).json()).toEqual(whole);
  });
});

describe('a record whose page cannot be loaded', () => {
  it('is not built from its panel alone', async () => {
    replay.misbehave('browse', respondWithStatus(429));
    const response = await service.get(URL);
    expect([response.status, response.json().code]).toEqual([503, 'upstream_unavailable']);
  });

  it('is the last good one if there is one, and is tried again after a minute', async () => {
    const whole = await loadWholeRecord();
    service.clock.advance(HOUR_MS + 1);
    replay.misbehave('browse', respondWithStatus(429));
    const old = await service.get(URL);
    expectForAMinute(old);
    expect(old.json()).toEqual(whole);
    replay.behave();
    const meanwhile = await service.get(URL);
    expect(meanwhile.headers['cache-status']).toMatch(/detail="upstream failed"$/);
    service.clock.advance(MINUTE_MS + 1);
    expect((await service.get(URL)).headers['cache-control']).toBe('public, max-age=3600');
  });
});
