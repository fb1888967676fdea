import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { blockWith } from '../helpers/documents.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import {
  copiesIn,
  expireCopies,
  findNginx,
  startFront,
  useFakeInstances,
  useFront,
  WITH_BASE_URL,
} from '../helpers/front.ts';
import { decodeImage } from '../helpers/image.ts';
import { sendRaw } from '../helpers/raw-http.ts';

/* deploy/nginx.conf in a real nginx in front of three small servers: which images it caches, for whom and how long. */

const ID = 'UCPennantSample00000001A';
const IMAGE = Buffer.from('an image, as far as nginx can tell');
const A_DAY = 'public, max-age=86400';
const CACHE_DIRECTORY = '/var/cache/nginx/images';

const instances = useFakeInstances(responseImage);
const front = useFront(instances);
const frontWithBaseUrl = useFront(instances, WITH_BASE_URL);

const REQUEST_FIELDS = {
  'ratelimit-policy': '"default";q=10;w=30',
  ratelimit: '"default";r=9;t=30',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '9',
  'x-ratelimit-reset': '30',
  'x-request-id': '5f0c9a43-5a41-4f1c-9a43-1c1d9ad7a0d2',
};

function responseImage(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    ...REQUEST_FIELDS,
    'content-type': 'image/avif',
    'cache-control': A_DAY,
    'cache-status': 'pennant; fwd=uri-miss; stored',
    etag: '"abc"',
    vary: 'Accept',
  });
  response.end(IMAGE);
}

let images = 0;
/** A URL that has not been requested yet. */
function freshImage(): string {
  images += 1;
  return `/${ID}/tv?width=${images}`;
}

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(front.base + path, { headers });
}

/** The response of an instance that has only the first encoding of an image. */
function responseFirstEncoding(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('cdn-cache-control', 'public, max-age=30');
  response.setHeader('x-accel-expires', '30');
  responseImage(request, response);
}

/** The command of docs/operating.md, for another directory. */
async function removeCopies(cacheDirectory: string): Promise<void> {
  const command = blockWith('docs/operating.md', CACHE_DIRECTORY);
  await promisify(execFile)('bash', ['-euc', command.replaceAll(CACHE_DIRECTORY, cacheDirectory)]);
}

/** Until when nginx keeps its copy of this path, in seconds since 1970. */
async function keptUntil(cacheDirectory: string, path: string): Promise<number | undefined> {
  const copies = await copiesIn(cacheDirectory);
  return copies.find(({ content }) => content.includes(`${path}|`))?.validUntilSeconds;
}

describe.skipIf(!findNginx())('an image', () => {
  test('is requested once, and the copy contains nothing from the first client’s request', async () => {
    const path = freshImage();
    const first = await ask(path);
    for (const [name, value] of Object.entries(REQUEST_FIELDS)) expect(first.headers.get(name)).toBe(value);
    expect(first.headers.get('cache-status')).toBe('pennant; fwd=uri-miss; stored, nginx; fwd=uri-miss');
    const copy = await ask(path);
    expect(Buffer.from(await copy.arrayBuffer())).toEqual(IMAGE);
    for (const name of [...Object.keys(REQUEST_FIELDS), 'set-cookie']) expect(copy.headers.get(name)).toBeNull();
    expect(copy.headers.get('cache-control')).toBe(A_DAY);
    expect(copy.headers.get('cache-status')).toBe('pennant; fwd=uri-miss; stored, nginx; hit');
    const unchanged = await ask(path, { 'if-none-match': '"abc"' });
    expect(unchanged.status).toBe(304);
    for (const name of Object.keys(REQUEST_FIELDS)) expect(unchanged.headers.get(name)).toBeNull();
    expect(instances.received).toHaveLength(1);
  });

  test('requested by many clients at once reaches an instance for each of them, and is stored once', async () => {
    const { promise: allArrived, resolve } = Promise.withResolvers<void>();
    instances.handler = async (request, response) => {
      if (instances.received.length === 100) resolve();
      await allArrived;
      responseImage(request, response);
    };
    const path = freshImage();
    const responses = await Promise.all(Array.from({ length: 100 }, () => ask(path)));
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    const copy = await ask(path);
    expect(copy.headers.get('cache-status')).toMatch(/nginx; hit$/);
    expect(instances.received).toHaveLength(100);
  });

  test.each([
    ['its ID', (id: string) => `/${id}/tv?copy=1`],
    ['a handle', () => '/@saltmarrow/tv.avif'],
  ])(
    'that was requested by %s is removed by the command in docs/operating.md, and no other is',
    async (_by, urlFor) => {
      const others = freshImage();
      const blocked = 'UCPennantSample00000003A';
      const path = urlFor(blocked);
      await ask(others);
      instances.handler = (_request, response) => {
        response.setHeader('content-disposition', `inline; filename="${blocked}-tv.avif"`);
        responseImage(_request, response);
      };
      await ask(path);
      expect((await ask(path)).headers.get('cache-status')).toMatch(/nginx; hit$/);
      await removeCopies(front.cacheDirectory);
      instances.handler = respondWithJson({}, 451, { 'cache-control': 'no-store' });
      expect((await ask(path)).status).toBe(451);
      expect((await ask(others)).headers.get('cache-status')).toMatch(/nginx; hit$/);
    },
  );

  test('that is older than its record says is not cached, so that the next request may get the new one', async () => {
    const path = freshImage();
    instances.handler = (request, response) => {
      response.writeHead(200, {
        'content-type': 'image/avif',
        'cache-control': 'public, max-age=60',
        etag: '"former"',
      });
      response.end(request.url);
    };
    expect((await ask(path)).headers.get('cache-control')).toBe('public, max-age=60');
    instances.handler = responseImage;
    expect((await ask(path)).headers.get('etag')).toBe('"abc"');
    expect((await ask(path)).headers.get('cache-status')).toMatch(/nginx; hit$/);
  });

  test.each([
    `/api/badge/${ID}.svg?metric=views`,
    `/youtube/channel/views/${ID}?style=flat`,
    `/youtube/channel/subscribers/${ID}.svg`,
  ])('of a badge (%s) is cached for the time that is left, and JSON is not', async (path) => {
    let left = 1234;
    instances.handler = (request, response) => {
      const isImage = !request.url?.startsWith(`/api/badge/${ID}?`);
      const contentType = isImage ? 'image/svg+xml' : 'application/json; charset=utf-8';
      response.writeHead(200, { 'content-type': contentType, 'cache-control': `public, max-age=${left}` });
      response.end('a badge');
      left -= 100;
    };
    const ages = async (url: string) => (await ask(url)).headers.get('cache-control');
    expect([await ages(path), await ages(path)]).toEqual(['public, max-age=1234', 'public, max-age=1234']);
    const json = `/api/badge/${ID}?metric=views`;
    expect([await ages(json), await ages(json)]).toEqual(['public, max-age=1134', 'public, max-age=1034']);
  });

  test('is served from the cache while no instance works', async () => {
    const path = freshImage();
    await ask(path);
    expect((await ask(path)).headers.get('cache-status')).toMatch(/nginx; hit$/);
    await expireCopies(front.cacheDirectory);
    instances.handler = respondWithJson({}, 503, { 'cache-control': 'no-store' });
    expect((await ask(path)).status).toBe(200);
    const stale = await ask(path);
    expect(stale.headers.get('cache-status')).toMatch(/nginx; hit; detail=stale$/);
    expect(stale.headers.get('ratelimit')).toBeNull();
    expect(stale.headers.get('cache-control')).toBe('public, max-age=60');
  });

  test('with only its first encoding is kept for 30 s, and clients still get its day', async () => {
    const path = freshImage();
    instances.handler = responseFirstEncoding;
    const askedAtSeconds = Math.floor(Date.now() / 1_000);
    const responses = [await ask(path), await ask(path), await ask(path, { 'if-none-match': '"abc"' })];
    const keptUntilSeconds = await keptUntil(front.cacheDirectory, path);
    expect(keptUntilSeconds).toBeGreaterThanOrEqual(askedAtSeconds + 30);
    expect(keptUntilSeconds).toBeLessThanOrEqual(Date.now() / 1_000 + 30);

    // No smaller encoding came: the instance confirms the copy, without the fields.
    instances.handler = (_request, response) => {
      response.writeHead(304, { 'cache-control': A_DAY, etag: '"abc"' });
      response.end();
    };
    await expireCopies(front.cacheDirectory);
    responses.push(await ask(path));
    expect(responses.at(-1)?.headers.get('cache-status')).toMatch(/nginx; fwd=stale; fwd-status=304$/);
    expect(await keptUntil(front.cacheDirectory, path)).toBeGreaterThan(askedAtSeconds + 86_000);
    responses.push(await ask(path));
    for (const { headers } of responses) {
      expect(headers.get('cache-control')).toBe(A_DAY);
      expect([headers.get('cdn-cache-control'), headers.get('x-accel-expires')]).toEqual([null, null]);
    }
  });

  test('arrives in its second encoding through the cache', async () => {
    const service = await startForTest();
    const port = await service.listen();
    const own = await startFront([port, port, port]);
    onTestFinished(() => own.stop());
    const path = '/UCPennantSample00000003A/mobile.avif';
    const load = async () => {
      const response = await fetch(own.base + path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, A_DAY]);
      const fields = ['cdn-cache-control', 'x-accel-expires'].map((name) => response.headers.get(name));
      expect(fields).toEqual([null, null]);
      return Buffer.from(await response.arrayBuffer());
    };
    const first = await load();
    expect(await keptUntil(own.cacheDirectory, path)).toBeLessThanOrEqual(Date.now() / 1_000 + 30);
    const loadAgain = async () => {
      const { length } = await load();
      if (length === first.length) {
        // 30 s pass.
        service.clock.advance(30_000);
        await expireCopies(own.cacheDirectory);
      }
      return length;
    };
    await expect.poll(loadAgain, { interval: 500 }).toBeLessThan(first.length);
    expect(await keptUntil(own.cacheDirectory, path)).toBeGreaterThan(Date.now() / 1_000 + 86_000);
    const [before, after] = [await decodeImage(first), await decodeImage(await load())];
    expect([after.format, after.width, after.height]).toEqual(['avif', before.width, before.height]);
  });

  test.each([
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/avif'],
    ['image/webp,image/avif,image/*;q=0.8', 'image/avif'],
    ['text/html, image/webp', 'image/webp'],
    ['*/*', '*/*'],
    ['image/*', '*/*'],
    ['image/png,image/*;q=0.8', '*/*'],
  ])('for Accept: %s is one of three cached forms', async (accept, reduced) => {
    const path = freshImage();
    await ask(path, { accept });
    expect(instances.received.at(-1)?.request.headers.accept).toBe(reduced);
    await ask(path, { accept: `${accept}, text/x-anything` });
    expect(instances.received).toHaveLength(1);
  });

  test('differs between the three forms', async () => {
    const path = freshImage();
    for (const accept of ['image/avif', 'image/webp', '*/*', 'image/avif', 'image/webp', '*/*']) {
      await ask(path, { accept });
    }
    expect(instances.received.map(({ request }) => request.headers.accept)).toEqual([
      'image/avif',
      'image/webp',
      '*/*',
    ]);
  });

  test.each(['image/avif;q=0.1, image/webp', 'image/avif;q=0', 'image/jpeg'])(
    'for Accept: %s is chosen by the instance, and never cached',
    async (accept) => {
      const path = freshImage();
      await ask(path, { accept: '*/*' });
      await ask(path, { accept });
      await ask(path, { accept });
      expect(instances.received.map(({ request }) => request.headers.accept)).toEqual(['*/*', accept, accept]);
      await ask(path, { accept: '*/*' });
      expect(instances.received).toHaveLength(3);
    },
  );

  test.each([`/${ID}/desktop.avif`, `/${ID}.jpg`, `/api/banner/${ID}?type=mobile&format=png`])(
    'whose URL names the format is cached once for all clients: %s',
    async (path) => {
      for (const accept of ['image/avif', 'image/webp', '*/*']) await ask(path, { accept });
      expect(instances.received).toHaveLength(1);
    },
  );

  test('is cached for each host, or once for all hosts when the instances have a BASE_URL', async () => {
    const hosts = ['a.example', 'b.example'];
    const askByEachName = async (port: number, path: string) => {
      for (const host of hosts)
        await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    };
    const path = freshImage();
    await askByEachName(front.port, path);
    expect(instances.received).toHaveLength(2);
    instances.received.length = 0;
    await askByEachName(frontWithBaseUrl.port, path);
    expect(instances.received).toHaveLength(1);
  });
});
