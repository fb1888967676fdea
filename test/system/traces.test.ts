import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { answerDataApi } from '../helpers/data-api.ts';
import { answerJson } from '../helpers/fake-upstream.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import {
  drawTrace,
  logLines,
  type ReceivedSpan,
  startTracedService,
  type TracedService,
} from '../helpers/traced-service.ts';

const CHANNEL_ID = 'UCreplayLighthouse000001';
const SAMPLE_ID = 'UCPennantSample00000001A';
const [SERVER, CLIENT] = [2, 3];
const ERROR = 2;

async function startWithUpstream(
  env: Record<string, string> = {},
  options: Partial<ReplayOptions> = {},
): Promise<TracedService & { readonly replay: ReplayServer }> {
  const replay = await startReplayServer(options);
  const traced = await startTracedService({ ...youtubeSettings(replay.origin), ...env });
  onTestFinished(() => replay.close());
  return { ...traced, replay };
}

function named(spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] {
  return spans.filter((span) => span.name === name);
}

test('a new picture is one trace with a span for each step, and a stored picture is one span', async () => {
  const { get, stop, replay, service } = await startWithUpstream({ ACCESS_LOG: 'on' });
  const path = `/${CHANNEL_ID}/tv.avif?width=300`;
  const made = await get(path);
  const stored = await get(path);
  const spans = await stop();

  const traceIds = [...new Set(spans.map(({ traceId }) => traceId))];
  expect(traceIds).toHaveLength(2);
  const [ofMade = [], ofStored = []] = [made, stored].map((answer) => {
    const requestId = answer.headers.get('x-request-id');
    const root = spans.find(({ attributes }) => attributes['pennant.request_id'] === requestId);
    return spans.filter(({ traceId }) => traceId === root?.traceId);
  });
  expect(drawTrace(ofStored)).toEqual(['GET /:identifier/:variant']);
  expect(drawTrace(ofMade)).toEqual([
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
    '  render picture',
    '    encoder queue',
    '    encoder task',
  ]);

  const [request] = named(ofMade, 'GET /:identifier/:variant');
  expect(request).toMatchObject({
    kind: SERVER,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/:identifier/:variant',
      'http.response.status_code': 200,
      'url.path': `/${CHANNEL_ID}/tv.avif`,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': service.port,
      'pennant.cache.outcome': 'miss',
    },
    resource: { 'service.name': 'pennant' },
  });
  expect(named(ofMade, 'look up originals')[0]?.attributes).toMatchObject({ 'pennant.cache.outcome': 'miss' });
  expect(named(ofMade, 'render picture')[0]?.attributes).toMatchObject({
    'pennant.picture.variant': 'tv',
    'pennant.picture.format': 'avif',
    'pennant.picture.width': 300,
  });
  expect(named(ofMade, 'GET').map(({ kind, attributes }) => ({ kind, ...attributes }))).toContainEqual({
    kind: CLIENT,
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(replay.origin).port),
    'url.full': `${replay.origin}/lighthouse-banner=s0`,
  });

  const lines = logLines(service).filter(({ msg }) => msg === 'request');
  expect(lines.map(({ trace_id }) => trace_id)).toEqual([ofMade[0]?.traceId, ofStored[0]?.traceId]);
  // No trace fields are sent to other hosts.
  expect(replay.calls.length).toBeGreaterThan(3);
  for (const { headers } of replay.calls) {
    expect(Object.keys(headers).filter((name) => /trace|baggage|b3/.test(name))).toEqual([]);
  }
});

test('a retry, a failing upstream and "no such channel" can be told apart', async () => {
  const { get, stop, replay } = await startWithUpstream();
  replay.misbehave('resolve', answerJson({}, 500), 1);
  expect((await get('/api/channel/nosuchchannel?type=handle')).status).toBe(404);
  replay.misbehave('all', answerJson({}, 500));
  expect((await get(`/channel/${CHANNEL_ID}`)).status).toBe(503);
  const spans = await stop();

  const [found, failed] = spans.filter(({ kind }) => kind === SERVER);
  const ofFound = spans.filter(({ traceId }) => traceId === found?.traceId);
  expect(found?.attributes).toMatchObject({ 'http.response.status_code': 404 });
  expect(found?.status.code).not.toBe(ERROR);
  expect(named(ofFound, 'source resolve')[0]).toMatchObject({
    attributes: { 'pennant.outcome': 'channel_not_found' },
    status: { code: 0 },
  });
  const tries = named(ofFound, 'POST').toSorted((a, b) => Number(a.startedAt - b.startedAt));
  expect(
    tries.map(({ attributes, status }) => [
      attributes['http.request.resend_count'],
      attributes['error.type'],
      status.code,
    ]),
  ).toEqual([
    [undefined, '500', ERROR],
    [1, '404', ERROR],
  ]);
  expect(failed).toMatchObject({
    attributes: { 'http.response.status_code': 503, 'error.type': 'upstream_unavailable' },
    status: { code: ERROR },
  });
});

test('a trace contains no keys, no client addresses and no search texts', async () => {
  const apiKey = 'key-of-the-data-api';
  const { get, stop, receiver, replay } = await startWithUpstream(
    {
      SOURCES: 'youtube-data-api',
      YOUTUBE_API_KEY: apiKey,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=key-of-the-collector',
      TRUST_PROXY: '127.0.0.1/32',
    },
    { dataApi: answerDataApi({ apiKey, channels: [{ id: CHANNEL_ID, snippet: { title: 'Lighthouse' } }] }) },
  );
  await get('/api/search?q=lighthouse', { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'a-rare-browser' });
  const spans = await stop();
  expect(replay.callsTo('data-api').map(({ path }) => path)).toEqual([expect.stringContaining('q=lighthouse')]);
  expect(named(spans, 'GET')[0]?.attributes).toMatchObject({ 'url.full': `${replay.origin}/youtube/v3/search` });
  expect(receiver.exports[0]?.headers['x-collector-key']).toBe('key-of-the-collector');
  const sent = receiver.exports.map(({ body }) => body.toString('utf8')).join();
  for (const secret of [apiKey, 'key-of-the-collector', 'lighthouse', '203.0.113.7', 'a-rare-browser']) {
    expect(sent).not.toContain(secret);
  }
});

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const OWN_TRACE = { traceId: expect.not.stringMatching(TRACE_ID), parentSpanId: '' };
const THEIR_TRACE = { traceId: TRACE_ID, parentSpanId: PARENT_ID };

test.each([
  ['one of an untrusted client is ignored', '', `00-${TRACE_ID}-${PARENT_ID}-01`, [OWN_TRACE]],
  ['an untrusted client cannot turn off traces', '', `00-${TRACE_ID}-${PARENT_ID}-00`, [OWN_TRACE]],
  ['one of a trusted proxy is used', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}-01`, [THEIR_TRACE]],
  ['one of a trusted proxy without sampling is used', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}-00`, []],
  ['an invalid one of a trusted proxy is ignored', '127.0.0.1/32', `00-${TRACE_ID}-${PARENT_ID}`, [OWN_TRACE]],
])('of a traceparent, %s', async (_what, trustProxy, traceparent, expected) => {
  const { get, stop } = await startTracedService({ TRUST_PROXY: trustProxy });
  await get(`/channel/${SAMPLE_ID}`, { traceparent });
  const spans = await stop();
  expect(spans.filter(({ kind }) => kind === SERVER)).toEqual(expected.map((own) => expect.objectContaining(own)));
  expect(spans.length > 0).toBe(expected.length > 0);
});

test('a request that the sampler drops has no span, and its log line has no trace ID', async () => {
  const { get, stop, service } = await startTracedService({ OTEL_TRACES_SAMPLER: 'always_off', ACCESS_LOG: 'on' });
  await get('/');
  expect(await stop()).toEqual([]);
  const [line] = logLines(service).filter(({ msg }) => msg === 'request');
  expect(line).toMatchObject({ requestId: expect.any(String) });
  expect(line).not.toHaveProperty('trace_id');
});

test('refused requests are not traced, and a client that disconnected is marked', async () => {
  const { get, stop, service, replay } = await startWithUpstream({ RATE_LIMIT_OVERRIDES: '127.0.0.1/32=2/60' });
  const asked = Promise.withResolvers<void>();
  replay.misbehave('all', () => asked.resolve());
  const socket = connect(service.port, '127.0.0.1');
  socket.write(`GET /channel/${CHANNEL_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await asked.promise;
  socket.destroy();
  expect((await get('/')).status).toBe(200);
  expect((await get('/')).status).toBe(429);
  const requests = (await stop()).filter(({ kind }) => kind === SERVER);
  expect(
    requests.map(({ name, attributes }) => [
      name,
      attributes['http.response.status_code'],
      attributes['pennant.client_gone'],
    ]),
  ).toEqual(
    expect.arrayContaining([
      ['GET /channel/:identifier', undefined, true],
      ['GET /', 200, undefined],
    ]),
  );
  expect(requests).toHaveLength(2);
});
