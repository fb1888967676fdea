import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { expireCopies, findNginx, startFront, useFakeInstances, useFront } from '../helpers/front.ts';
import { sendRaw } from '../helpers/raw-http.ts';

/* deploy/nginx.conf in a real nginx in front of three small servers. */

const ID = 'UCPennantSample00000001A';
const REQUEST_FIELDS = {
  'ratelimit-policy': '"default";q=10;w=30',
  ratelimit: '"default";r=9;t=30',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '9',
  'x-ratelimit-reset': '30',
  'x-request-id': '5f0c9a43-5a41-4f1c-9a43-1c1d9ad7a0d2',
};

const instances = useFakeInstances(respondWithImage);
const front = useFront(instances);
const describeWithNginx = describe.skipIf(!findNginx());

function respondWithImage({ headers }: IncomingMessage, response: ServerResponse): void {
  const fields = {
    'content-type': 'image/avif',
    'cache-control': 'public, max-age=86400',
    etag: '"abc"',
    vary: 'Accept',
  };
  if (headers['if-none-match'] === '"abc"') response.writeHead(304, { ...REQUEST_FIELDS, ...fields }).end();
  else response.writeHead(200, { ...REQUEST_FIELDS, ...fields }).end('an image');
}

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(front.base + path, { headers });
}

/** Asks for a path that is not cached. */
async function instanceFor(path: string): Promise<number | undefined> {
  instances.handler = respondWithJson({}, 403, { 'cache-control': 'no-store' });
  await ask(path);
  return instances.received.at(-1)?.instance;
}

describeWithNginx('the instance', () => {
  test.each([
    [
      'a channel ID',
      [`/${ID}`, `/${ID}.png`, `/${ID}/tv.avif`, `/${ID}/avatar?width=3`, `//${ID}/`, `/api/banner/${ID}?type=tv`],
      [`/api/channel/${ID}`, `/channel/${ID}`, `/api/badge/${ID}.svg`, `/youtube/channel/views/${ID}.svg?style=flat`],
    ],
    [
      'a handle',
      ['/@saltmarrow/tv', '/@saltmarrow', '/%40saltmarrow/avatar.webp', '/saltmarrow/tv', '/c/saltmarrow'],
      ['/api/channel/saltmarrow?type=handle', '/api/badge/@saltmarrow.svg', '/api/badge/saltmarrow?metric=videos'],
    ],
    ['a list of channels', [`/api/channels?ids=${ID},@a`], [`/api/channels/?ids=${ID},@a`]],
  ])('is the same for every path of %s', async (_what, some, others) => {
    const found = new Set<number | undefined>();
    for (const path of [...some, ...others]) found.add(await instanceFor(path));
    expect(found.size).toBe(1);
  });

  test('is another one when the first cannot be reached; a request that got a response is not repeated', async () => {
    instances.handler = (request) => request.socket.destroy();
    const failed = await ask(`/channel/${ID}`);
    expect(new Set(instances.received.map(({ instance }) => instance)).size).toBe(3);
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await failed.json()).toMatchObject({ code: 'upstream_unavailable', status: 503 });
    await expect.poll(async () => (await instanceFor('/channel/x')) !== undefined).toBe(true);
    for (const status of [429, 500, 502, 503, 504]) {
      instances.handler = respondWithJson({}, status, { 'cache-control': 'no-store' });
      instances.received.length = 0;
      expect((await ask(`/channel/${ID}`)).status).toBe(status);
      expect(instances.received).toHaveLength(1);
    }
  });
});

describeWithNginx('a request to an instance', () => {
  test('has the address of the client and the requested host, also if the client claims others', async () => {
    instances.handler = respondWithJson({});
    const fields = ['X-Forwarded-For: 198.51.100.7', 'X-Forwarded-Proto: https', 'Connection: close', '\r\n'];
    const lines = ['GET /api/channel/x?type=handle&a=%2F HTTP/1.1', 'Host: img.pennant.example:8443', ...fields];
    await sendRaw(front.port, lines.join('\r\n'));
    const request = instances.received[0]?.request;
    expect(request?.url).toBe('/api/channel/x?type=handle&a=%2F');
    expect(request?.headers).toMatchObject({
      host: 'img.pennant.example:8443',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
  });
});

describeWithNginx('an image', () => {
  test('is requested once, and the copy has no field of the first request', async () => {
    const first = await ask(`/${ID}/tv?once`);
    const copy = await ask(`/${ID}/tv?once`);
    const unchanged = await ask(`/${ID}/tv?once`, { 'if-none-match': '"abc"' });
    expect([first.status, copy.status, unchanged.status]).toEqual([200, 200, 304]);
    expect(await copy.text()).toBe('an image');
    for (const [name, value] of Object.entries(REQUEST_FIELDS)) {
      expect([first, copy, unchanged].map(({ headers }) => headers.get(name))).toEqual([value, null, null]);
    }
    expect(copy.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(copy.headers.get('cache-status')).toBe('nginx; hit');
    expect(instances.received).toHaveLength(1);
  });

  test.each([
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/avif'],
    ['image/webp,image/avif,image/*;q=0.8', 'image/avif'],
    ['text/html, image/webp', 'image/webp'],
    ['image/png,image/*;q=0.8', '*/*'],
  ])('has three copies; Accept: %s gets that of %s', async (accept, reduced) => {
    const path = `/@saltmarrow/tv?accept=${encodeURIComponent(accept)}`;
    for (const other of ['image/avif', 'image/webp', '*/*', accept]) await ask(path, { accept: other });
    expect(instances.received.map(({ request }) => request.headers.accept)).toEqual([
      'image/avif',
      'image/webp',
      '*/*',
    ]);
    await ask(`${path}2`, { accept });
    expect(instances.received.at(-1)?.request.headers.accept).toBe(reduced);
  });

  test.each(['image/avif;q=0.1, image/webp', 'image/jpeg', 'application/json'])(
    'is neither cached nor taken from the cache for Accept: %s',
    async (accept) => {
      const path = `/@saltmarrow?exact=${encodeURIComponent(accept)}`;
      await ask(path, { accept: '*/*' });
      for (let count = 0; count < 2; count += 1) await ask(path, { accept });
      await ask(path, { accept: '*/*' });
      expect(instances.received.map(({ request }) => request.headers.accept)).toEqual(['*/*', accept, accept]);
    },
  );

  test('that expired is revalidated, is sent while no instance can tell, and goes with a 404 or 451', async () => {
    const path = `/${ID}/tv?expired`;
    await ask(path);
    await expireCopies(front.cacheDirectory);
    expect((await ask(path)).status).toBe(200);
    expect(instances.received.at(-1)?.request.headers['if-none-match']).toBe('"abc"');
    for (const status of [429, 503]) {
      await expireCopies(front.cacheDirectory);
      instances.handler = respondWithJson({}, status, { 'cache-control': 'no-store' });
      expect((await ask(path)).status).toBe(200);
    }
    for (const status of [404, 451]) {
      await expireCopies(front.cacheDirectory);
      instances.handler = respondWithJson({}, status, { 'cache-control': 'no-store' });
      expect((await ask(path)).status).toBe(status);
      instances.handler = respondWithJson({}, 503);
      expect((await ask(path)).status).toBe(status);
    }
  });
});

describeWithNginx('without an instance', () => {
  test('a badge is grey with status 200, because pages show no image with another status', async () => {
    const alone = await startFront([1, 2, 3]);
    onTestFinished(() => alone.stop());
    for (const path of [`/api/badge/${ID}.svg?style=flat`, `/youtube/channel/views/${ID}`]) {
      const response = await fetch(alone.base + path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      expect(response.headers.get('cache-control')).toBe('public, max-age=60');
      expect(await response.text()).toContain('<title>unavailable</title>');
    }
    expect((await fetch(`${alone.base}/api/badge/${ID}`)).status).toBe(503);
  });
});

describeWithNginx('the response', () => {
  test.each([
    ['a record', '/api/channel/x?type=handle', 200],
    ['a list of images', `/api/channels?ids=${ID}`, 200],
    ['a 429 at an image’s path', `/${ID}/avatar?refused`, 429],
  ])('is never cached: %s', async (_what, path, status) => {
    instances.handler = respondWithJson({}, status, { 'cache-control': 'public, max-age=3000' });
    expect([(await ask(path)).status, (await ask(path)).status]).toEqual([status, status]);
    expect(instances.received).toHaveLength(2);
  });

  test.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a broken escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an endless URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['an endless field', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a body', `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n`],
  ])('is JSON when nginx refuses the request, and the log has its ID: %s', async (_what, bytes) => {
    const response = await sendRaw(front.port, bytes);
    expect([response.status, response.headers['content-type']]).toEqual([400, 'application/problem+json']);
    const { code, requestId } = JSON.parse(response.body) as { code: string; requestId: string };
    expect([code, instances.received]).toEqual(['malformed_request', []]);
    await expect.poll(async () => (await front.log()).join('\n')).toContain(` id=${requestId} `);
  });
});
