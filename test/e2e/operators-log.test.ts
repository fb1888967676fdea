import { writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cachePath } from '../../src/cache/cache-file.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startTestApp, startWithoutEncoder, type TestAppOptions } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createStub, numberedChannelId } from '../helpers/fake-source.ts';
import { respondWithHtml, respondWithJson, respondWithStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { changeCache, DAMAGE_IMAGES, storedImagesIn } from '../helpers/images.ts';
import { recordLog } from '../helpers/log.ts';
import { findFreePort } from '../helpers/process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const SAMPLE = 'UCPennantSample00000001A';

describe('the log', () => {
  async function startLogged(options: TestAppOptions = {}) {
    const { lines, logger } = recordLog();
    return { lines, service: await startWithoutEncoder({ logger, ...options }) };
  }

  const LEVELS = { info: 30, warn: 40, error: 50 };

  test('warns once that the clients of a proxy share one limit, and only about a proxy that may be the operator’s', async () => {
    const { lines, service } = await startLogged();
    for (const remoteAddress of ['198.51.100.1', '10.0.0.1', '10.0.0.2'])
      await service.request({ url: '/', headers: { 'x-forwarded-for': '203.0.113.1' }, remoteAddress });
    const warnings = lines.filter(({ msg }) => String(msg).startsWith('X-Forwarded-For'));
    expect(warnings).toMatchObject([{ level: LEVELS.warn, address: '10.0.0.1' }]);
  });

  test('has different levels for bugs and upstream failures', async () => {
    const bug: ChannelSource = {
      ...createStub({ name: 'failing' }),
      getChannel: () => Promise.reject(new Error('oops')),
    };
    const { lines, service } = await startLogged({ sources: [bug] });
    const statuses = [];
    for (const url of [`/channel/${SAMPLE}`, '/@nobody/tv']) statuses.push((await service.get(url)).status);
    expect(statuses).toEqual([500, 503]);
    const failed = lines.filter(({ level }) => Number(level) >= LEVELS.warn);
    expect(failed).toMatchObject([
      { level: LEVELS.error, source: 'failing', err: { message: 'oops' } },
      { level: LEVELS.error, status: 500, msg: 'request failed: a bug' },
      { level: LEVELS.warn, source: 'failing', reason: expect.any(String) },
    ]);
    expect(failed[2]).not.toHaveProperty('err');
  });

  test('has one line a minute about requests over the rate limit, with the network of the client', async () => {
    const { lines, service } = await startLogged({ env: { RATE_LIMIT_OVERRIDES: '' } });
    for (let sent = 0; sent < 13; sent += 1) await service.get('/');
    service.clock.advance(60_000);
    const refused = { level: LEVELS.warn, msg: 'requests over the rate limit (429)', client: '127.0.0.0/24' };
    const found = lines.filter(({ msg }) => msg === refused.msg);
    expect(found).toMatchObject([refused, { ...refused, repeated: 2 }]);
  });

  test('has one line when a source cannot be reached, and one when it responds again', async () => {
    const port = await findFreePort();
    const YOUTUBE_ORIGIN = `http://127.0.0.1:${port}`;
    const { lines, service } = await startLogged({
      env: { SOURCES: 'youtube', YOUTUBE_ORIGIN, RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' },
    });
    const messages = () => lines.map(({ msg }) => String(msg)).filter((message) => !/listens/.test(message));
    const searchFor = (number: number) => service.get(`/api/search?q=nobody${number}`);
    // One after another, and more than it takes to open the breaker.
    for (let number = 0; number < 8; number += 1) expect((await searchFor(number)).status).toBe(503);
    expect(lines.filter(({ msg }) => msg === 'source failed')).toHaveLength(1);
    expect(messages()).toEqual([
      'source failed',
      expect.stringMatching(/^YouTube’s search cannot be reached from this server since .* \(.*ECONNREFUSED/),
    ]);
    const { conditions } = await service.readiness();
    expect(conditions).toMatchObject([{ name: 'source youtube searches', cause: 'unreachable' }]);

    const upstream = await startFakeUpstream(respondWithJson({ estimatedResults: '0' }), port);
    onTestFinished(upstream.close);
    service.clock.advance(10_000);
    expect((await searchFor(8)).status).toBe(200);
    expect(messages().slice(2)).toEqual(['youtube searches is ready again']);
  });

  test('has one line about a failed request: that of the source, of the breaker or of the image', async () => {
    const upstream = await startFakeUpstream(respondWithStatus(500));
    onTestFinished(upstream.close);
    const { lines, service } = await startLogged({ env: youtubeSettings(upstream.origin) });
    const messagesFor = async (url: string) => {
      lines.splice(0);
      expect((await service.get(url)).status).toBeGreaterThanOrEqual(502);
      return lines.filter(({ level }) => Number(level) >= LEVELS.warn).map(({ msg }) => msg);
    };
    expect(await messagesFor('/@nobody')).toEqual(['source failed']);
    upstream.response(respondWithHtml(200));
    expect(await messagesFor('/api/search?q=nobody')).toEqual([expect.stringMatching(/^YouTube’s search refuses/)]);
    expect(await messagesFor('/api/search?q=anybody')).toEqual([]);
  });

  test('summarizes the failures that were not logged', async () => {
    const { lines, service } = await startLogged({ sources: [createStub({ name: 'failing' })] });
    for (let number = 0; number < 3; number += 1) await service.get(`/channel/${numberedChannelId(number)}`);
    const repeated = expect.objectContaining({ level: LEVELS.warn, source: 'failing', repeated: 2 });
    expect(lines).not.toContainEqual(repeated);
    service.clock.advance(60_000);
    expect(lines).toContainEqual(repeated);
  });

  test('names a damaged image, and reports that cache.db was recreated', async () => {
    const dataDir = await createTemporaryDirectory();
    const url = `/${SAMPLE}/tv.webp`;
    const before = await startTestApp({ dataDir, encoder: createFakeEncoder(), ...fetchedSamples() });
    const { bytes } = await before.get(url);
    await before.close();
    expect(storedImagesIn(dataDir)).toHaveLength(2);
    changeCache(dataDir, DAMAGE_IMAGES);

    async function restart() {
      const { lines, service } = await startLogged({ dataDir, ...fetchedSamples() });
      const response = await service.get(url);
      expect([response.status, response.bytes]).toEqual([200, bytes]);
      await service.close();
      return lines;
    }
    const damaged = { level: LEVELS.warn, msg: 'cache.db', kind: 'damaged', key: expect.stringContaining(SAMPLE) };
    expect(await restart()).toContainEqual(expect.objectContaining(damaged));
    await writeFile(cachePath(dataDir), 'no database at all');
    const rebuilt = { level: LEVELS.warn, msg: 'cache.db', kind: 'rebuilt' };
    expect(await restart()).toContainEqual(expect.objectContaining(rebuilt));
  });

  test('has a line for each response when the access log is on, with the network of the client', async () => {
    const request = async (env: Record<string, string>) => {
      const { lines, service } = await startLogged({ env });
      await service.get(`/channel/${SAMPLE}`);
      return lines.filter(({ msg }) => msg === 'request');
    };
    expect(await request({})).toEqual([]);
    expect(await request({ ACCESS_LOG: 'on' })).toMatchObject([
      { status: 200, client: '127.0.0.0/24', cache: 'catalog' },
    ]);
  });
});
