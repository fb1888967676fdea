import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { numberedSource } from '../helpers/fake-source.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { type RecordedSpan, recordSpans } from '../helpers/recorded-spans.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

const CHANNEL_ID = 'UCreplayLighthouse000001';
const [SERVER, CLIENT] = [1, 2];

const { ended } = recordSpans();

async function startTraced(env: Record<string, string> = {}) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'info', destination });
  const { replay, service } = await startYoutubeForTest({}, { env, logger });
  const port = await service.listen();
  return {
    replay,
    port,
    /** The lines of its access log. */
    requestLines: () => lines.filter(({ msg }) => msg === 'request'),
    /** Sends a request and reads the complete response. */
    async get(path: string, headers: Record<string, string> = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      await response.arrayBuffer();
      return response;
    },
  };
}

/** The spans below a span, in the order they began, each after its parent. */
function below({ children }: RecordedSpan): RecordedSpan[] {
  return children.flatMap((child) => [child, ...below(child)]);
}

function named(span: RecordedSpan | undefined, name: string): RecordedSpan[] {
  return span === undefined ? [] : below(span).filter((other) => other.name === name);
}

/** The names of spans, each indented below its parent. */
function draw(spans: readonly RecordedSpan[], indent = ''): string[] {
  return spans.flatMap(({ name, children }) => [indent + name, ...draw(children, `${indent}  `)]);
}

/** Waits until the spans of this number of requests have ended. */
async function endedRequests(count: number): Promise<readonly RecordedSpan[]> {
  await expect.poll(() => ended()).toHaveLength(count);
  return ended();
}

test('a new image is one trace with a span for each step, and a stored image is one span', async () => {
  const { get, replay, port, requestLines } = await startTraced({ ACCESS_LOG: 'on' });
  const path = `/${CHANNEL_ID}/tv.avif?width=300`;
  const made = await get(path);
  const stored = await get(path);
  await expect
    .poll(() => draw(ended()))
    .toEqual([
      'GET /:identifier/:variant',
      '  look up records',
      '    source getChannel',
      '      POST',
      '      POST',
      '    GET',
      '  look up originals',
      '    download original',
      '      GET',
      '    encoder queue',
      '    encoder task',
      '  render image',
      '    encoder queue',
      '    encoder task',
      // The stored image.
      'GET /:identifier/:variant',
    ]);

  const [ofMade, ofStored] = ended();
  expect(ofMade?.traceId).not.toBe(ofStored?.traceId);
  expect(ofStored?.attributes).toMatchObject({ 'pennant.request_id': stored.headers.get('x-request-id') });
  expect(ofMade).toMatchObject({
    kind: SERVER,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/:identifier/:variant',
      'http.response.status_code': 200,
      'url.path': `/${CHANNEL_ID}/tv.avif`,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': port,
      'pennant.cache.outcome': 'miss',
      'pennant.request_id': made.headers.get('x-request-id'),
    },
  });
  expect(named(ofMade, 'look up originals')[0]?.attributes).toMatchObject({ 'pennant.cache.outcome': 'miss' });
  expect(named(ofMade, 'render image')[0]?.attributes).toMatchObject({
    'pennant.image.variant': 'tv',
    'pennant.image.format': 'avif',
    'pennant.image.width': 300,
  });
  expect(named(ofMade, 'GET').map(({ kind, attributes }) => ({ kind, ...attributes }))).toContainEqual({
    kind: CLIENT,
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(replay.origin).port),
    'url.full': `${replay.origin}/lighthouse-banner=s0`,
  });

  expect(requestLines().map(({ trace_id }) => trace_id)).toEqual([ofMade?.traceId, ofStored?.traceId]);
  // No trace fields are sent to other hosts.
  expect(replay.calls.length).toBeGreaterThan(3);
  for (const { headers } of replay.calls) {
    expect(Object.keys(headers).filter((name) => /trace|baggage|b3/.test(name))).toEqual([]);
  }
});

test('a retry, a failing upstream and "no such channel" can be told apart', async () => {
  const { get, replay } = await startTraced();
  replay.misbehave('resolve', respondWithJson({}, 500), 1);
  expect((await get('/api/channel/nosuchchannel?type=handle')).status).toBe(404);
  replay.misbehave('all', respondWithJson({}, 500));
  expect((await get(`/channel/${CHANNEL_ID}`)).status).toBe(503);
  const [found, failed] = await endedRequests(2);

  expect(found).toMatchObject({ attributes: { 'http.response.status_code': 404 }, failure: undefined });
  expect(named(found, 'source resolve')[0]).toMatchObject({
    attributes: { 'pennant.outcome': 'channel_not_found' },
    failure: undefined,
  });
  const tries = named(found, 'POST');
  expect(tries.map(({ attributes, failure }) => [attributes['http.request.resend_count'], failure?.type])).toEqual([
    [undefined, '500'],
    [1, '404'],
  ]);
  expect(failed).toMatchObject({
    attributes: { 'http.response.status_code': 503 },
    failure: { type: 'upstream_unavailable' },
  });
});

test('a bug has no internal details in its span', async () => {
  const getChannel = () => Promise.reject(new TypeError('secret-in-a-message is not a function'));
  const service = await startWithoutEncoder({ sources: [{ ...numberedSource(), getChannel }] });
  expect((await service.get(`/channel/${CHANNEL_ID}`)).status).toBe(500);
  const [request] = await endedRequests(1);
  expect(request?.failure).toEqual({ type: 'internal', message: undefined });
});

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

const [OWN, THEIRS, NONE] = [
  { own: 1, theirs: 0 },
  { own: 0, theirs: 1 },
  { own: 0, theirs: 0 },
];

test.each([
  ['one of an untrusted client is ignored', '', `00-${TRACE_ID}-${PARENT_ID}-01`, OWN],
  ['an untrusted client cannot turn off traces', '', `00-${TRACE_ID}-${PARENT_ID}-00`, OWN],
  ['one of a trusted proxy is used', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}-01`, THEIRS],
  ['one of a trusted proxy without sampling is used', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}-00`, NONE],
  ['an invalid one of a trusted proxy is ignored', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}`, OWN],
])('of a traceparent, %s', async (_what, trustProxy, traceparent, { own, theirs }) => {
  const { get } = await startTraced({ TRUST_PROXY: trustProxy });
  await get(`/channel/${CHANNEL_ID}`, { traceparent });
  // Its span ends last.
  await get('/');
  await endedRequests(own + 1);
  const inTheirs = ended(PARENT_ID);
  expect(inTheirs).toHaveLength(theirs);
  for (const span of inTheirs) expect(span).toMatchObject({ kind: SERVER, traceId: TRACE_ID });
  for (const { traceId } of ended()) expect(traceId).not.toBe(TRACE_ID);
});

test('refused requests are not traced, and a client that disconnected is marked', async () => {
  const { get, port, replay } = await startTraced({ RATE_LIMIT_OVERRIDES: '127.0.0.1/32=2/60' });
  const asked = Promise.withResolvers<void>();
  replay.misbehave('all', () => asked.resolve());
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /channel/${CHANNEL_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await asked.promise;
  socket.destroy();
  expect((await get('/')).status).toBe(200);
  expect((await get('/')).status).toBe(429);
  const requests = await endedRequests(2);
  const statuses = requests.map(({ name, attributes }) => [
    name,
    attributes['http.response.status_code'],
    attributes['pennant.client_gone'],
  ]);
  expect(statuses).toEqual([
    ['GET /channel/:identifier', undefined, true],
    ['GET /', 200, undefined],
  ]);
});
