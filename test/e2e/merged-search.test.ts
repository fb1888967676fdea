import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { catalogLine, channelIdOf, importLines } from '../helpers/catalog.ts';
import { answerStatus, FAULTS } from '../helpers/faulty-upstream.ts';
import { OWN_ANSWERS, readAnswers } from '../helpers/replay-answers.ts';
import { answerHtml, type ReplayServer } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const TOPIC = 'UCreplayGameTopic0000006';
const QUIET = 'UCreplayQuiet00000000007';
const OWN = channelIdOf(1);
const MINUTE_MS = 60_000;
/** Three, and room for a busy machine; the source itself would be given up after five. */
const LONGEST_SECONDS = 4.5;

let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
beforeEach(async () => {
  const dataDir = await createTemporaryDirectory();
  await importLines(dataDir, [
    catalogLine(1, { title: 'Light of our own', subscriberCount: '1' }),
    catalogLine(2, { channelId: LIGHTHOUSE, title: 'Bell Rock Light, as the operator has it', subscriberCount: '9' }),
  ]);
  const env = { SOURCES: 'catalog,youtube', SAMPLE_CATALOG: 'off' };
  running = await startYoutubeService({ answers: readAnswers(OWN_ANSWERS) }, { dataDir, env });
  ({ service, replay } = running);
});
afterEach(() => running.close());

async function search(query: string) {
  const startedAt = performance.now();
  const answer = await service.get(`/api/search?q=${encodeURIComponent(query)}`);
  const seconds = (performance.now() - startedAt) / 1000;
  expect(answer.status).toBe(200);
  const { results } = answer.json<{ results: { channelId: string; title: string }[] }>();
  return { ...answer, seconds, results, ids: results.map(({ channelId }) => channelId) };
}

describe('a search in the catalog and upstream', () => {
  it('lists the operator’s channels first, then upstream’s, and none twice', async () => {
    const { ids, results, headers } = await search('light');
    expect(new Set(ids.slice(0, 2))).toEqual(new Set([OWN, LIGHTHOUSE]));
    expect(ids.slice(2)).toEqual([TOPIC, HARBOUR, QUIET]);
    expect(results.find(({ channelId }) => channelId === LIGHTHOUSE)?.title).toContain('as the operator has it');
    expect(headers['cache-control']).toBe('public, max-age=600');
    expect(headers['cache-status']).toBe('pennant; fwd=uri-miss; stored');
  });

  it('finds the channel that the text names first, with all that its record has', async () => {
    const { results } = await search(`https://www.youtube.com/channel/${HARBOUR}`);
    expect(results[0]).toMatchObject({ channelId: HARBOUR, customUrl: '@ท่าเรือ-7', videoCount: '165' });
    expect(results[0]).toHaveProperty('bannerUrl', expect.stringContaining(HARBOUR));
  });

  it('is held up by a source that does not answer for three seconds at most', async () => {
    replay.misbehave('search', FAULTS.hangBeforeHeaders);
    const { seconds, ids, headers } = await search('light');
    expect(seconds).toBeLessThan(LONGEST_SECONDS);
    expect(new Set(ids)).toEqual(new Set([OWN, LIGHTHOUSE]));
    expect(headers['cache-control']).toBe('public, max-age=60');
  });

  it.each<[string, RequestListener]>([
    ['429', answerStatus(429)],
    ['a captcha', answerHtml()],
    ['a broken connection', FAULTS.resetBeforeAnswer],
  ])(
    'is answered from the catalog alone while upstream answers %s, for a minute, and not stored',
    async (_name, fault) => {
      replay.misbehave('search', fault);
      const { ids, headers } = await search('light');
      expect(new Set(ids)).toEqual(new Set([OWN, LIGHTHOUSE]));
      expect(headers['cache-control']).toBe('public, max-age=60');
      expect(headers['cache-status']).toBe('pennant; fwd=uri-miss');
      replay.behave();
      service.clock.advance(MINUTE_MS + 1);
      const again = await search('light');
      expect(again.ids).toHaveLength(5);
      expect(again.headers['cache-control']).toBe('public, max-age=600');
    },
  );

  it('is an empty list when the catalog has nothing and upstream fails: one source did answer', async () => {
    replay.misbehave('search', answerStatus(429));
    const { ids, headers } = await search('darkness');
    expect([ids, headers['cache-control']]).toEqual([[], 'public, max-age=60']);
  });

  it('shows an earlier whole list rather than half of a new one', async () => {
    const whole = await search('light');
    service.clock.advance(11 * MINUTE_MS);
    replay.misbehave('search', answerStatus(429));
    const { ids, headers } = await search('light');
    expect(ids).toEqual(whole.ids);
    expect(headers['cache-control']).toBe('public, max-age=60');
  });

  it('does not wait long for the channel that the text names either', async () => {
    replay.misbehave('browse', FAULTS.hangBeforeHeaders);
    const { seconds, headers } = await search(HARBOUR);
    expect(seconds).toBeLessThan(LONGEST_SECONDS);
    expect(headers['cache-control']).toBe('public, max-age=60');
  });
});
