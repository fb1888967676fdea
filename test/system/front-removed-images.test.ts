import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { withWriter } from '../../src/sources/catalog/writer.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { copiesIn, expireCopies, findNginx, startFront, useFakeInstances, useFront } from '../helpers/front.ts';
import { findFreePort } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* deploy/nginx.conf in a real nginx: what happens to its copy of an image that an instance no longer serves. */

const ID = 'UCPennantSample00000003A';
const PATH = `/${ID}/mobile.avif`;
const OTHER_PATH = '/UCPennantSample00000001A/mobile.avif';

/** The service behind nginx, which can be started again with other settings on the same data. */
async function startBehindNginx() {
  const dataDir = await createTemporaryDirectory();
  const port = await findFreePort();
  const front = await startFront([port, port, port]);
  onTestFinished(() => front.stop());
  let running: TestApp | undefined;
  const stop = async () => {
    await running?.close();
    running = undefined;
  };
  onTestFinished(stop);
  return {
    ...front,
    dataDir,
    stop,
    async start(env: Record<string, string> = {}): Promise<TestApp> {
      running = await startTestApp({ dataDir, env, encoder: createFakeEncoder(), clock: createManualClock() });
      await running.app.http.listen({ host: '127.0.0.1', port });
      return running;
    },
    /** Waits until nginx tries the instance again after it was away. */
    respondsTo: (path: string) => expect.poll(async () => (await fetch(front.base + path)).status).not.toBe(503),
  };
}

/** Status, `Cache-Control` and the fields that only nginx may see. */
async function responsesFor(url: string, times = 4) {
  const responses: unknown[] = [];
  for (let at = 0; at < times; at += 1) {
    const { status, headers } = await fetch(url);
    const forNginx = headers.get('x-accel-expires') ?? headers.get('cdn-cache-control');
    responses.push([status, headers.get('cache-control'), forNginx]);
  }
  return responses;
}

describe.skipIf(!findNginx())('the copy of an image whose channel', () => {
  test.each([
    ['was taken down', { BLOCKED_CHANNELS: ID }, 451, 'no-store'],
    ['was removed from the catalog', {}, 404, 'public, max-age=60'],
  ])('%s is not served after it has expired, and is replaced', async (_what, env, status, cacheControl) => {
    const service = await startBehindNginx();
    await service.start();
    for (const path of [PATH, OTHER_PATH]) expect((await fetch(service.base + path)).status).toBe(200);
    await service.stop();
    if (status === 404) await withWriter(catalogPaths(service.dataDir), async (writer) => writer.remove(ID));
    await service.start(env);
    await service.respondsTo('/problems');
    await expireCopies(service.cacheDirectory);

    const refused = [status, cacheControl, null];
    expect(await responsesFor(service.base + PATH)).toEqual([refused, refused, refused, refused]);
    const copies = await copiesIn(service.cacheDirectory);
    expect(copies.filter(({ content }) => content.includes(`filename="${ID}`))).toEqual([]);
    expect(copies.filter(({ content }) => content.includes(`${PATH}|`))).toHaveLength(1);

    // What replaced the image is also what is served while no instance works.
    await expireCopies(service.cacheDirectory);
    await service.stop();
    expect((await responsesFor(service.base + PATH, 1))[0]).toEqual(refused);
    expect(await responsesFor(service.base + OTHER_PATH, 1)).toEqual([[200, 'public, max-age=60', null]]);
  });
});

const instances = useFakeInstances();
const front = useFront(instances);

const FIRST_ENCODING = { 'x-accel-expires': '30', 'cdn-cache-control': 'public, max-age=30' };

function imageWith(fields: Record<string, string>): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { ...fields, 'content-type': 'image/webp', 'cache-control': 'public, max-age=86400' });
    response.end('an image');
  };
}

describe.skipIf(!findNginx())('an expired copy', () => {
  test('of an image that was purged is replaced by the next response', async () => {
    const path = `/${ID}/tv.webp`;
    const load = async () => (await fetch(front.base + path)).headers.get('etag');
    instances.handler = imageWith({ ...FIRST_ENCODING, etag: '"former"' });
    expect([await load(), await load()]).toEqual(['"former"', '"former"']);
    await expireCopies(front.cacheDirectory);
    instances.handler = imageWith({ etag: '"current"' });
    expect([await load(), await load()]).toEqual(['"current"', '"current"']);
  });

  test.each([
    ['a first encoding', FIRST_ENCODING],
    ['a final encoding', {}],
  ])('of %s is served with max-age=60, to clients over their limit too', async (what, fields) => {
    const path = `/${ID}/tv.webp?width=${what.length}`;
    instances.handler = imageWith(fields);
    expect(await responsesFor(front.base + path, 1)).toEqual([[200, 'public, max-age=86400', null]]);
    for (const status of [429, 503]) {
      await expireCopies(front.cacheDirectory);
      instances.handler = respondWithJson({}, status, { 'cache-control': 'no-store' });
      expect(await responsesFor(front.base + path, 2)).toEqual(Array(2).fill([200, 'public, max-age=60', null]));
    }
  });
});
