import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readDocuments } from '../helpers/documents/markdown.ts';
import { type Front, findNginx, startFront } from '../helpers/front.ts';
import { sendRaw } from '../helpers/raw-http.ts';

/*
 * deploy/nginx.conf in a real nginx, before three instances that are played by small servers: what reaches which of
 * them, and what comes back.
 */

const ID = 'UCPennantSample00000001A';
const OTHER_CASE_ID = 'UCpennantSample00000001A';
const PICTURE = Buffer.from('a picture, as far as nginx can tell');

interface Arrived {
  readonly instance: number;
  readonly request: IncomingMessage;
}

type Play = (request: IncomingMessage, response: ServerResponse) => void;

const arrived: Arrived[] = [];
let play: Play = answerPicture;
let instances: Server[];
let front: Front;
let frontWithBaseUrl: Front;

const hasNginx = findNginx();

beforeAll(async () => {
  if (!hasNginx) return;
  instances = await Promise.all([0, 1, 2].map(startInstance));
  const [first, second, third] = instances.map((server) => (server.address() as AddressInfo).port);
  const instancePorts = [first as number, second as number, third as number] as const;
  front = await startFront({ instancePorts });
  frontWithBaseUrl = await startFront({ instancePorts, hasBaseUrl: true });
});

afterAll(async () => {
  if (!hasNginx) return;
  await front.stop();
  await frontWithBaseUrl.stop();
  for (const server of instances) {
    server.closeAllConnections();
    server.close();
  }
});

beforeEach(() => {
  arrived.length = 0;
  play = answerPicture;
});

async function startInstance(instance: number): Promise<Server> {
  const server = createServer((request, response) => {
    arrived.push({ instance, request });
    play(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const REQUEST_FIELDS = {
  'ratelimit-policy': '"default";q=10;w=30',
  ratelimit: '"default";r=9;t=30',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '9',
  'x-ratelimit-reset': '30',
  'x-request-id': '5f0c9a43-5a41-4f1c-9a43-1c1d9ad7a0d2',
};

function answerPicture(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    ...REQUEST_FIELDS,
    'content-type': 'image/avif',
    'cache-control': 'public, max-age=86400',
    'cache-status': 'pennant; fwd=uri-miss; stored',
    etag: '"abc"',
    vary: 'Accept',
  });
  response.end(PICTURE);
}

function answerJson(status: number, cacheControl: string): Play {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': cacheControl });
    response.end(JSON.stringify({ answer: arrived.length }));
  };
}

const CACHE_DIRECTORY = '/var/cache/nginx/pictures';

let pictures = 0;
/** A URL that nothing has been asked for yet. */
function freshPicture(): string {
  pictures += 1;
  return `/${ID}/tv?width=${pictures}`;
}

function ask(path: string, headers: Record<string, string> = {}, base = front.base): Promise<Response> {
  return fetch(base + path, { headers });
}

/** The command of docs/operating.md, for another directory. */
async function removeCopies(cacheDirectory: string): Promise<void> {
  const blocks = readDocuments().flatMap((document) => document.blocks);
  const [command] = blocks.filter(({ text }) => text.includes(CACHE_DIRECTORY));
  if (command === undefined) throw new Error(`no document has a command for ${CACHE_DIRECTORY}`);
  await promisify(execFile)('bash', ['-euc', command.text.replaceAll(CACHE_DIRECTORY, cacheDirectory)]);
}

async function instanceFor(path: string): Promise<number | undefined> {
  play = answerJson(404, 'no-store');
  await ask(path);
  return arrived.at(-1)?.instance;
}

describe.skipIf(!hasNginx)('which instance', () => {
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
    ['a search', ['/api/search?q=Lantern', '/api/search?limit=3&q=lantern'], ['/api/search?q=LANTERN&limit=50']],
  ])('is the same for every way to write %s', async (_what, some, others) => {
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

  test('is another one when the first cannot be reached, and no answer of an instance is asked for twice', async () => {
    play = (request) => request.socket.destroy();
    const failed = await ask(`/channel/${ID}`);
    expect(new Set(arrived.map(({ instance }) => instance)).size).toBe(3);
    expect([failed.status, failed.headers.get('content-type'), failed.headers.get('retry-after')]).toEqual([
      503,
      'application/problem+json',
      '5',
    ]);
    expect(await failed.json()).toMatchObject({ code: 'upstream_unavailable', status: 503 });
    await expect.poll(async () => (await instanceFor('/channel/x')) !== undefined).toBe(true);
    for (const status of [429, 500, 502, 503, 504]) {
      play = answerJson(status, 'no-store');
      arrived.length = 0;
      expect((await ask(`/channel/${ID}`)).status).toBe(status);
      expect(arrived).toHaveLength(1);
    }
  });
});

describe.skipIf(!hasNginx)('what an instance is told', () => {
  test('is the client by its own address, the host as asked for and nothing that a client made up', async () => {
    play = answerJson(200, 'no-store');
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
    const request = arrived[0]?.request;
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

  test('comes over connections that are kept', async () => {
    play = answerJson(200, 'no-store');
    for (let at = 0; at < 20; at += 1) await ask(`/channel/${ID}`);
    const ports = new Set(arrived.map(({ request }) => request.socket.remotePort));
    expect(ports.size).toBeLessThanOrEqual(4);
  });
});

describe.skipIf(!hasNginx)('a picture', () => {
  test('is asked for once, and the copy carries nothing of the first client’s request', async () => {
    const path = freshPicture();
    const first = await ask(path);
    for (const [name, value] of Object.entries(REQUEST_FIELDS)) expect(first.headers.get(name)).toBe(value);
    expect(first.headers.get('cache-status')).toBe('pennant; fwd=uri-miss; stored, nginx; fwd=uri-miss');
    const copy = await ask(path);
    expect(Buffer.from(await copy.arrayBuffer())).toEqual(PICTURE);
    for (const name of [...Object.keys(REQUEST_FIELDS), 'set-cookie']) expect(copy.headers.get(name)).toBeNull();
    expect(copy.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(copy.headers.get('cache-status')).toBe('pennant; fwd=uri-miss; stored, nginx; hit');
    const unchanged = await ask(path, { 'if-none-match': '"abc"' });
    expect(unchanged.status).toBe(304);
    for (const name of Object.keys(REQUEST_FIELDS)) expect(unchanged.headers.get(name)).toBeNull();
    expect(arrived).toHaveLength(1);
  });

  test('asked for by many at once goes on to the instance for each, before the first is answered, and is stored once', async () => {
    const { promise: allArrived, resolve } = Promise.withResolvers<void>();
    play = async (request, response) => {
      if (arrived.length === 100) resolve();
      await allArrived;
      answerPicture(request, response);
    };
    const path = freshPicture();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(path)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const copy = await ask(path);
    expect(copy.headers.get('cache-status')).toMatch(/nginx; hit$/);
    expect(arrived).toHaveLength(100);
  });

  test.each([
    ['its ID', (id: string) => `/${id}/tv?copy=1`],
    ['a handle', () => '/@saltmarrow/tv.avif'],
  ])(
    'that was asked for by %s is removed by the command that docs/operating.md has, and no other',
    async (_by, urlFor) => {
      const others = freshPicture();
      const blocked = 'UCPennantSample00000003A';
      const path = urlFor(blocked);
      await ask(others);
      play = (_request, response) => {
        response.setHeader('content-disposition', `inline; filename="${blocked}-tv.avif"`);
        answerPicture(_request, response);
      };
      await ask(path);
      expect((await ask(path)).headers.get('cache-status')).toMatch(/nginx; hit$/);
      await removeCopies(front.cacheDirectory);
      play = answerJson(451, 'no-store');
      expect((await ask(path)).status).toBe(451);
      expect((await ask(others)).headers.get('cache-status')).toMatch(/nginx; hit$/);
    },
  );

  test('goes out as a copy while no instance works', async () => {
    const path = freshPicture();
    play = (request, response) => {
      response.setHeader('x-accel-expires', '1');
      answerPicture(request, response);
    };
    await ask(path);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    play = answerJson(503, 'no-store');
    expect((await ask(path)).status).toBe(200);
    const stale = await ask(path);
    expect(stale.headers.get('cache-status')).toMatch(/nginx; hit; detail=(?:stale|updating)$/);
    expect(stale.headers.get('ratelimit')).toBeNull();
  });

  test.each([
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/avif'],
    ['image/webp,image/avif,image/*;q=0.8', 'image/avif'],
    ['text/html, image/webp', 'image/webp'],
    ['*/*', '*/*'],
    ['image/*', '*/*'],
    ['image/png,image/*;q=0.8', '*/*'],
  ])('for Accept: %s is one of three', async (accept, reduced) => {
    const path = freshPicture();
    await ask(path, { accept });
    expect(arrived.at(-1)?.request.headers.accept).toBe(reduced);
    await ask(path, { accept: `${accept}, text/x-anything` });
    expect(arrived).toHaveLength(1);
  });

  test('differs between the three', async () => {
    const path = freshPicture();
    for (const accept of ['image/avif', 'image/webp', '*/*', 'image/avif', 'image/webp', '*/*']) {
      await ask(path, { accept });
    }
    expect(arrived.map(({ request }) => request.headers.accept)).toEqual(['image/avif', 'image/webp', '*/*']);
  });

  test.each(['image/avif;q=0.1, image/webp', 'image/avif;q=0', 'image/jpeg'])(
    'for Accept: %s is the instance’s own choice, and never a copy',
    async (accept) => {
      const path = freshPicture();
      await ask(path, { accept: '*/*' });
      await ask(path, { accept });
      await ask(path, { accept });
      expect(arrived.map(({ request }) => request.headers.accept)).toEqual(['*/*', accept, accept]);
      await ask(path, { accept: '*/*' });
      expect(arrived).toHaveLength(3);
    },
  );

  test.each([`/${ID}/desktop.avif`, `/${ID}.jpg`, `/api/banner/${ID}?type=mobile&format=png`])(
    'whose URL names the format is one for all: %s',
    async (path) => {
      for (const accept of ['image/avif', 'image/webp', '*/*']) await ask(path, { accept });
      expect(arrived).toHaveLength(1);
    },
  );

  test('is kept for each host, and for all together where the instances have a BASE_URL', async () => {
    const hosts = ['a.example', 'b.example'];
    const askByEachName = async (port: number, path: string) => {
      for (const host of hosts)
        await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    };
    const path = freshPicture();
    await askByEachName(front.port, path);
    expect(arrived).toHaveLength(2);
    arrived.length = 0;
    await askByEachName(frontWithBaseUrl.port, path);
    expect(arrived).toHaveLength(1);
  });
});

describe.skipIf(!hasNginx)('anything but a picture', () => {
  test.each([
    ['a record', '/api/channel/x?type=handle', 200, 'public, max-age=3000'],
    ['a 404 at a picture’s path', `/${ID}/avatar?nothing`, 404, 'public, max-age=60'],
    ['a 429 at a picture’s path', `/${ID}/avatar?refused`, 429, 'no-store'],
    ['a 451 at a picture’s path', `/${ID}/avatar?blocked`, 451, 'no-store'],
  ])('is never kept: %s', async (_what, path, status, cacheControl) => {
    play = answerJson(status, cacheControl);
    const answers = [await ask(path), await ask(path)];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(answers.map((answer) => answer.headers.get('cache-control'))).toEqual([cacheControl, cacheControl]);
    expect(arrived).toHaveLength(2);
  });

  test.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n', 400, 'malformed_request'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['a broken escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['an endless URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, 'request_too_large'],
    ['an endless field', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'request_too_large'],
    ['a body', `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n`, 413, 'request_too_large'],
    ['an inner path', 'GET /nginx-answers-malformed-request HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'route_not_found'],
  ])('is JSON when nginx refuses it: %s', async (_what, bytes, status, code) => {
    const answer = await sendRaw(front.port, bytes);
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      status,
      'application/problem+json',
      'no-store',
    ]);
    expect(JSON.parse(answer.body)).toMatchObject({ status, code, requestId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(arrived).toHaveLength(0);
  });
});
