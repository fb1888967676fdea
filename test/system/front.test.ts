import { describe, expect, onTestFinished, test } from 'vitest';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { findNginx, startFront, useFakeInstances, useFront } from '../helpers/front.ts';
import { sendRaw } from '../helpers/raw-http.ts';

/* deploy/nginx.conf in a real nginx in front of three small servers: which requests reach which, and what comes back. */

const ID = 'UCPennantSample00000001A';
const OTHER_CASE_ID = 'UCpennantSample00000001A';

const instances = useFakeInstances();
const front = useFront(instances);
const describeWithNginx = describe.skipIf(!findNginx());

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(front.base + path, { headers });
}

async function instanceFor(path: string): Promise<number | undefined> {
  instances.handler = respondWithJson({}, 404, { 'cache-control': 'no-store' });
  await ask(path);
  return instances.received.at(-1)?.instance;
}

describeWithNginx('the instance', () => {
  test.each([
    [
      ID,
      [`/${ID}`, `/${ID}.png`, `/${ID}/tv.avif`, `/${ID}/avatar?width=3`, `//${ID}/`, `/api/banner/${ID}?type=tv`],
      [`/api/banner/${ID}/tv`, `/api/channel/${ID}`, `/channel/${ID}`],
    ],
    [
      'a handle',
      ['/@saltmarrowKitchen/tv', '/@SALTMARROWKITCHEN', '/%40saltmarrowkitchen/avatar.webp', '/saltmarrowkitchen/tv'],
      ['/api/channel/SaltmarrowKitchen?type=handle', '/api/banner/@saltmarrowkitchen', '/c/saltMarrowKitchen'],
    ],
    ['a user name', ['/user/Saltmarrow_1', '/api/channel/SALTMARROW_1?type=username'], ['/saltmarrow_1/tablet']],
    [
      'the channel of a badge',
      [`/api/badge/${ID}`, `/api/badge/${ID}.svg?metric=views`, `/youtube/channel/subscribers/${ID}.svg`],
      [`/channel/${ID}`, `/${ID}/tv.avif`, `/youtube/channel/views/${ID}?style=flat`],
    ],
    [
      'the handle of a badge',
      ['/api/badge/@Saltmarrow.svg', '/api/badge/saltmarrow?metric=videos', '/youtube/channel/views/saltmarrow.svg'],
      ['/@saltmarrow/tv'],
    ],
    [
      'a list of channels',
      [`/api/channels?ids=${ID},@a`, `/api/channels?x=1&ids=${ID},@a`],
      [`/api/channels/?ids=${ID},@a`],
    ],
    ['a search', ['/api/search?q=Lantern', '/api/search?limit=3&q=lantern'], ['/api/search?q=LANTERN&limit=50']],
  ])('is the same for every spelling of %s', async (_what, some, others) => {
    const found = new Set<number | undefined>();
    for (const path of [...some, ...others]) found.add(await instanceFor(path));
    expect(found.size).toBe(1);
  });

  test('is chosen by the whole channel ID, letter case included, and spread evenly', async () => {
    const counts = [0, 0, 0];
    let apart = 0;
    for (let at = 0; at < 300; at += 1) {
      const tail = String(at).padStart(4, '0');
      const lower = (await instanceFor(`/channel/${OTHER_CASE_ID.slice(0, -4)}${tail}`)) as number;
      const upper = await instanceFor(`/channel/${ID.slice(0, -4)}${tail}`);
      counts[lower] = (counts[lower] as number) + 1;
      if (lower !== upper) apart += 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(60);
    expect(apart).toBeGreaterThan(100);
  });

  test('differs between lists of channels', async () => {
    const found = new Set<number | undefined>();
    for (let at = 0; at < 30; at += 1) found.add(await instanceFor(`/api/channels?ids=@a,@list${at}`));
    expect(found.size).toBe(3);
  });

  test('is another one when the first cannot be reached, and a request that got a response is not repeated', async () => {
    instances.handler = (request) => request.socket.destroy();
    const failed = await ask(`/channel/${ID}`);
    expect(new Set(instances.received.map(({ instance }) => instance)).size).toBe(3);
    expect([failed.status, failed.headers.get('content-type'), failed.headers.get('retry-after')]).toEqual([
      503,
      'application/problem+json',
      '5',
    ]);
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

describeWithNginx('without an instance', () => {
  test('a badge is grey, because pages and image proxies show no image with another status than 200', async () => {
    const alone = await startFront([1, 2, 3]);
    onTestFinished(() => alone.stop());
    for (const path of [`/api/badge/${ID}.svg?style=flat`, `/youtube/channel/views/${ID}`]) {
      const response = await fetch(alone.base + path);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/svg+xml',
        'cache-control': 'public, max-age=60',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      });
      expect(await response.text()).toContain('<title>YouTube: unavailable</title>');
    }
    expect((await fetch(`${alone.base}/api/badge/${ID}`)).status).toBe(503);
  });
});

describeWithNginx('a request to an instance', () => {
  test('has the client’s address, the requested host and no forged fields', async () => {
    instances.handler = respondWithJson({}, 200, { 'cache-control': 'no-store' });
    await sendRaw(
      front.port,
      [
        'GET /api/channel/x?type=handle&a=%2F HTTP/1.1',
        'Host: img.pennant.example:8443',
        'X-Forwarded-For: 198.51.100.7',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: evil.example',
        'Forwarded: for=198.51.100.7',
        'Cookie: a=b',
        'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'tracestate: a=b',
        'Authorization: Basic eDp5',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    );
    const request = instances.received[0]?.request;
    expect(request?.url).toBe('/api/channel/x?type=handle&a=%2F');
    expect(request?.headers).toMatchObject({
      host: 'img.pennant.example:8443',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
    expect(Object.keys(request?.headers ?? {})).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^(x-forwarded-host|forwarded|cookie|authorization|traceparent|tracestate)$/),
      ]),
    );
  });

  test('uses a connection that is kept open', async () => {
    instances.handler = respondWithJson({}, 200, { 'cache-control': 'no-store' });
    for (let at = 0; at < 20; at += 1) await ask(`/channel/${ID}`);
    const ports = new Set(instances.received.map(({ request }) => request.socket.remotePort));
    expect(ports.size).toBeLessThanOrEqual(4);
  });
});

describeWithNginx('the log', () => {
  test('has the request ID of each response, whoever sent it', async () => {
    instances.handler = respondWithJson({}, 503, { 'cache-control': 'no-store', 'x-request-id': 'q3T1xKZ0fUvB-7' });
    expect((await ask(`/channel/${ID}`)).headers.get('x-request-id')).toBe('q3T1xKZ0fUvB-7');
    const ownError = '/nginx-response-malformed-request';
    const { requestId } = (await (await ask(ownError)).json()) as { requestId: string };
    const lineOf = async (path: string) => (await front.log()).findLast((line) => line.includes(`GET ${path} `));
    await expect.poll(() => lineOf(`/channel/${ID}`)).toMatch(/" 503 \d+ [\d.]+ id=q3T1xKZ0fUvB-7 cache=/);
    await expect.poll(() => lineOf(ownError)).toContain(` id=${requestId} cache=`);
  });
});

describeWithNginx('a response other than an image', () => {
  test.each([
    ['a record', '/api/channel/x?type=handle', 200, 'public, max-age=3000'],
    ['a 404 at an image’s path', `/${ID}/avatar?nothing`, 404, 'public, max-age=60'],
    ['a 429 at an image’s path', `/${ID}/avatar?refused`, 429, 'no-store'],
    ['a 451 at an image’s path', `/${ID}/avatar?blocked`, 451, 'no-store'],
  ])('is never cached: %s', async (_what, path, status, cacheControl) => {
    instances.handler = respondWithJson({}, status, { 'cache-control': cacheControl });
    const responses = [await ask(path), await ask(path)];
    expect(responses.map((response) => response.status)).toEqual([status, status]);
    expect(responses.map((response) => response.headers.get('cache-control'))).toEqual([cacheControl, cacheControl]);
    expect(instances.received).toHaveLength(2);
  });

  test.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n', 400, 'malformed_request'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['a broken escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['an endless URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, 'request_too_large'],
    ['an endless field', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'request_too_large'],
    ['a body', `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n`, 413, 'request_too_large'],
    ['an inner path', 'GET /nginx-response-malformed-request HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'route_not_found'],
  ])('is JSON when nginx itself refuses the request: %s', async (_what, bytes, status, code) => {
    const response = await sendRaw(front.port, bytes);
    expect([response.status, response.headers['content-type'], response.headers['cache-control']]).toEqual([
      status,
      'application/problem+json',
      'no-store',
    ]);
    expect(JSON.parse(response.body)).toMatchObject({
      status,
      code,
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(instances.received).toHaveLength(0);
  });
});
