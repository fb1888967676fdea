import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { sendRaw } from '../helpers/raw-http.ts';

let service: TestApp;
let port: number;
beforeAll(async () => {
  service = await startTestApp({
    encoder: createFakeEncoder(),
    env: { CONTACT: 'ops@pennant.example' },
  });
  port = await service.listen();
});
afterAll(() => service.close());

const LONG = 'x'.repeat(9000);

describe('malformed and unusual HTTP', () => {
  test.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['an invalid port', 'GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n', 400, 'malformed_request'],
    [
      'a port that is none, for an image',
      'GET /UCPennantSample00000001A/tv HTTP/1.1\r\nHost: a:0\r\n\r\n',
      400,
      'malformed_request',
    ],
    ['a Host of 261 characters', `GET /nowhere HTTP/1.1\r\nHost: ${'a'.repeat(261)}\r\n\r\n`, 400, 'malformed_request'],
    ['a Host that is a path', 'PUT / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400, 'malformed_request'],
    ['an absolute target without a host', 'GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['an absolute target with a name', 'GET http://me@a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['no HTTP at all', 'hello there\r\n\r\n', 400, 'malformed_request'],
    ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00', 400, 'malformed_request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['a method of RTSP', 'DESCRIBE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['an unknown version', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a known other method', 'DELETE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    [
      'POST with a body on an unknown path',
      'POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab',
      405,
      'method_not_allowed',
    ],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n', 417, 'expectation_failed'],
    ['a URL over the limit', `GET /?${LONG} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, 'request_too_large'],
    [
      'headers over the limit',
      `GET / HTTP/1.1\r\nHost: a\r\n${`X-Long: ${LONG}\r\n`.repeat(4)}\r\n`,
      431,
      'request_too_large',
    ],
    [
      'more fields than are read',
      `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(1_100)}Host: a\r\n\r\n`,
      431,
      'request_too_large',
    ],
    ['an encoded slash', 'GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a NUL', 'GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a dot segment', 'GET /api/../x HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a backslash', 'GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['dots that are part of a name', 'GET /..a/b..c HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'route_not_found'],
    ['an encoded dot segment', 'GET /%2e%2E/x HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a broken escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['broken UTF-8', 'GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['broken UTF-8 in the query', 'GET /api/search?q=%ff HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a space in the target of another method', 'PUT /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a space in the target of an unknown method', 'BREW /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['a tab in the target of an unknown method', 'BREW /a\tb HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    [
      'an unknown method and a long target',
      `BREW /${LONG.slice(0, 700)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      405,
      'method_not_allowed',
    ],
    ['an invalid method with an unknown path', 'PUT /nowhere HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['a malformed path with an invalid method', 'PUT /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
  ])('%s gets a JSON response', async (_what, request, status, code) => {
    const response = await sendRaw(port, Buffer.from(request, 'latin1'));
    const problem = JSON.parse(response.body);
    expect([response.status, problem.code, problem.status]).toEqual([status, code, status]);
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-request-id': problem.requestId,
    });
    expect(problem.detail).not.toContain('Did you mean');
    expect(problem.type).toMatch(new RegExp(`^(?:http://a)?/problems#${code}$`));
    if (status === 405) expect(response.headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  test('an absolute target is accepted, and sets the base of URLs', async () => {
    const response = await sendRaw(
      port,
      'GET http://img.example/channel/UCPennantSample00000001A HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    expect(response.status).toBe(200);
    expect(response.body).toContain('http://img.example/api/banner/');
  });

  test('a handle in raw UTF-8 is rejected, with the advice to encode it', async () => {
    const raw = await sendRaw(port, Buffer.from('GET /@ไทย HTTP/1.1\r\nHost: a\r\n\r\n'));
    expect([raw.status, JSON.parse(raw.body).detail]).toEqual([400, expect.stringContaining('percent-encoded')]);
  });

  test('a preflight request succeeds on known paths only', async () => {
    const known = await service.request({ method: 'OPTIONS', url: '/api/search' });
    expect([known.status, known.bytes.length]).toEqual([204, 0]);
    expect(known.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
      'access-control-max-age': '86400',
      'access-control-allow-origin': '*',
    });
    for (const url of ['/nowhere', '/a/b/c', '/UCPennantSample00000001A/4k']) {
      expect((await service.request({ method: 'OPTIONS', url })).status).toBe(404);
    }
  });
});

interface OpenApiHead {
  readonly openapi: string;
  readonly info: object;
}

describe('the documents', () => {
  test('GET /problems lists every code once', async () => {
    const { problems } = (await service.get('/problems')).json<{ problems: { code: string; status: number }[] }>();
    const codes = problems.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes).toEqual(expect.arrayContaining(['rate_limited', 'channel_blocked', 'upstream_timeout', 'internal']));
  });

  test('GET /openapi.json is OpenAPI 3.1 with the version and the contact of this instance', async () => {
    const document = (await service.get('/openapi.json')).json<OpenApiHead>();
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ version: '0.0.0-test', contact: { name: 'ops@pennant.example' } });
  });

  test('GET /openapi.json names the server by which it was requested, and has one ETag for each', async () => {
    const hosts = ['one.example', 'two.example:8080', 'one.example'];
    const documents = await Promise.all(hosts.map((host) => service.get('/openapi.json', { host })));
    const servers = documents.map((response) => response.json<{ servers: object[] }>().servers);
    expect(servers).toEqual(hosts.map((host) => [{ url: `http://${host}` }]));
    const [one, two, again] = documents.map(({ headers }) => headers.etag);
    expect(again).toBe(one);
    expect(two).not.toBe(one);
  });

  test('GET /favicon.ico is an image', async () => {
    const icon = await service.get('/favicon.ico');
    expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/png']);
  });
});
