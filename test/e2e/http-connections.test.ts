import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { type RawResponse, readResponses, readUntilClosed } from '../helpers/raw-http.ts';

/*
 * Several requests on one connection, or bytes that look like them: every response must belong to the request to which
 * the client assigns it.
 */

let service: TestApp;
let port: number;
beforeAll(async () => {
  service = await startTestApp({ env: { BASE_URL: 'https://one.example, https://two.example' } });
  port = await service.listen();
});
afterAll(() => service.close());

const RECORD = '/channel/UCPennantSample00000001A';
const SEARCH = '/api/search?q=pennant';

function ask(method: string, path: string, ...fields: string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n');
}

function get(path: string, ...fields: string[]): string {
  return ask('GET', path, ...fields);
}

const LAST = get('/problems', 'Connection: close');

/** A status, and the value that identifies the request. */
function summarize({ status, headers, body }: RawResponse): string {
  if (body === '') return `${status}`;
  const content = JSON.parse(body);
  const found = headers['content-type']?.startsWith('application/problem')
    ? content.code
    : (['channelId', 'query', 'name', 'problems'].find((key) => key in content) ?? 'other');
  return `${status} ${found}`;
}

async function summariesOf(...requests: string[]): Promise<string[]> {
  return (await readResponses(port, requests.join(''))).map(summarize);
}

describe('a request body', () => {
  const bodies: [string, string[], string][] = [
    ['of a length', ['Content-Length: 9'], '{"a": 1}\n'],
    ['in chunks', ['Transfer-Encoding: chunked'], '9\r\n{"a": 1}\n\r\n0\r\n\r\n'],
    ['that looks like a request', [`Content-Length: ${get('/').length}`], get('/')],
  ];

  test.each(bodies)('%s is ignored, and the next request works', async (_what, fields, body) => {
    expect(await summariesOf(get(RECORD, ...fields), body, LAST)).toEqual(['200 channelId', '200 problems']);
    expect(await summariesOf(ask('OPTIONS', RECORD, ...fields), body, LAST)).toEqual(['204', '200 problems']);
    expect(await summariesOf(ask('OPTIONS', '/nowhere/at/all', ...fields), body, LAST)).toEqual([
      '404 route_not_found',
      '200 problems',
    ]);
    const heads = await readUntilClosed(port, `${ask('HEAD', RECORD, ...fields)}${body}${LAST}`);
    expect(heads.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(heads).not.toContain('"channelId"');
  });

  test('that is malformed does not prevent the response, and the connection is closed', async () => {
    const chunked = get(RECORD, 'Transfer-Encoding: chunked');
    expect(await summariesOf(chunked, '1\r\nx\n0\r\n\r\n', get('/problems'))).toEqual(['200 channelId']);
  });
});

describe('an Upgrade to another protocol', () => {
  const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];
  const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];

  test.each([
    ['HTTP/2', H2C],
    ['WebSocket', WEBSOCKET],
    ['HTTP/2, without Connection', ['Upgrade: h2c']],
  ])('%s is ignored', async (_what, fields) => {
    const [response, ...others] = await readResponses(port, get(RECORD, ...fields, 'Connection: close'));
    expect([response?.status, others]).toEqual([200, []]);
    expect(response?.headers.upgrade).toBeUndefined();
  });

  test('never assigns a response to another request', async () => {
    const responded = await summariesOf(get(SEARCH), get(RECORD, ...H2C), get('/'), LAST);
    // The parser loses the rest of the packet. The closed connection tells the client to send it again.
    expect(responded).toEqual(['200 query', '200 channelId']);
    expect(await summariesOf(get(RECORD, ...H2C), LAST)).toEqual(['200 channelId']);
    expect(await summariesOf(get(RECORD, 'Content-Length: 3', ...H2C), 'abc', LAST)).toEqual(['200 channelId']);
  });
});

describe('malformed input', () => {
  const CONNECT = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';

  test.each([
    ['no HTTP', 'hello there\r\n\r\n', '400 malformed_request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', '405 method_not_allowed'],
    ['a tunnel', CONNECT, '405 method_not_allowed'],
    ['two lengths', get('/', 'Content-Length: 1', 'Content-Length: 2'), '400 malformed_request'],
    ['a URL beyond every limit', get(`/?${'x'.repeat(26_000)}`), '431 request_too_large'],
    ['fields beyond every limit', get('/', `X: ${'x'.repeat(26_000)}`), '431 request_too_large'],
  ])('%s does not prevent the responses to earlier requests', async (_what, bytes, refusal) => {
    expect(await summariesOf(get(SEARCH), get(RECORD), bytes, get('/'))).toEqual([
      '200 query',
      '200 channelId',
      refusal,
    ]);
  });

  test('after the last request gets no response, and does not prevent the response to that request', async () => {
    const last = get(SEARCH, 'Connection: close');
    expect(await summariesOf(get(RECORD), last, 'hello there\r\n\r\n')).toEqual(['200 channelId', '200 query']);
  });

  test('gets an error with the first origin of BASE_URL', async () => {
    for (const bytes of ['hello there\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n']) {
      const [response] = await readResponses(port, bytes.replace('\r\n', '\r\nConnection: close\r\n'));
      expect(JSON.parse(response?.body ?? '').type).toMatch(/^https:\/\/one\.example\/problems#/);
    }
  });
});

describe('a URL that is too long', () => {
  test.each([
    [8_193, 414, 'The URL is longer than 8192 bytes.'],
    [24_000, 414, 'The URL is longer than 8192 bytes.'],
    [30_000, 431, 'The URL and the header section are too large.'],
  ])('of %i bytes in one packet is %i', async (length, status, detail) => {
    const [response] = await readResponses(port, get(`/?${'x'.repeat(length - 2)}`, 'Connection: close'));
    expect([response?.status, JSON.parse(response?.body ?? '')]).toEqual([
      status,
      expect.objectContaining({ code: 'request_too_large', detail }),
    ]);
  });
});
