import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, respondAsDataApi } from '../../test/helpers/data-api.ts';
import { startFakeUpstream } from '../../test/helpers/fake-upstream.ts';
import { type ServiceProcess, startServiceForTest } from '../../test/helpers/process.ts';
import { youtubeSettings } from '../../test/helpers/replay-server.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';

/** The otel.mjs of docs/operating.md. */
const SDK_FILE = join(import.meta.dirname, '../otel.mjs');
const SAMPLE_ID = 'UCPennantSample00000001A';
const MODULES_REPORTER = join(import.meta.dirname, 'report-loaded-modules.ts');
const WARNING = 'OTEL_EXPORTER_OTLP_ENDPOINT is set, but no OpenTelemetry SDK is loaded';

/** A collector of traces on this machine until the test ends: OTLP over HTTP. */
async function startTraceReceiver() {
  const exports: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  let isFree = Promise.resolve();
  const { origin, close } = await startFakeUpstream(async (request, response) => {
    const { url: path = '', headers } = request;
    exports.push({ path, headers, body: (await buffer(request)).toString('latin1') });
    await isFree;
    response.writeHead(200, { 'content-type': headers['content-type'] }).end();
  });
  onTestFinished(close);
  return {
    /** The environment of a service that sends its traces here. */
    settings: {
      NODE_OPTIONS: `--import=${SDK_FILE}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      OTEL_SERVICE_NAME: 'pennant',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    },
    /** Their bodies have one character per byte. */
    exports,
    /** All bodies. */
    sent: () => exports.map(({ body }) => body).join('\n'),
    /** From now on, exports are received but not responded to. */
    hold() {
      isFree = new Promise(() => undefined);
    },
  };
}

/** The service as a process until the end of the test, with a collector for its traces. */
async function startTracedService(env: Readonly<Record<string, string>> = {}) {
  const receiver = await startTraceReceiver();
  // At a stop, the spans that are not sent yet are lost.
  const exporter = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '100' };
  const service = await startUntilTestEnds({ ...receiver.settings, ...exporter, ...env });
  return {
    service,
    receiver,
    /** Sends a request and reads the complete response. */
    async get(path: string, headers: Record<string, string> = {}) {
      const response = await fetch(service.base + path, { headers });
      await response.arrayBuffer();
      return response;
    },
    /** @returns its exit code */
    stop() {
      service.child.kill('SIGTERM');
      return service.ended;
    },
  };
}

async function startUntilTestEnds(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  return startServiceForTest({ directory: await createTemporaryDirectory(), env });
}

/** The lines of its log. */
function logLines(service: ServiceProcess): Record<string, unknown>[] {
  const texts = service.output().split('\n');
  return texts.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

/** The modules that the service loads for a record and for an image by an encoder process. */
async function loadedModules(env: Record<string, string>): Promise<string[]> {
  const directory = await createTemporaryDirectory();
  const report = join(directory, 'modules');
  await writeFile(report, '');
  const service = await startUntilTestEnds({
    ...env,
    NODE_OPTIONS: `--import=${MODULES_REPORTER} ${env.NODE_OPTIONS ?? ''}`,
    LOADED_MODULES_REPORT: report,
  });
  expect((await fetch(`${service.base}/${SAMPLE_ID}/tv.webp`)).status).toBe(200);
  return (await readFile(report, 'utf8')).split('\n');
}

test('the documents have the two lines that load the SDK', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
  expect(page).toContain(`\`\`\`js\n${await readFile(SDK_FILE, 'utf8')}\`\`\``);
});

test('the SDK is loaded once, by the operator’s option only, and not in threads and encoder processes', async () => {
  const receiver = await startTraceReceiver();
  const isOfSdk = (url: string) => /\/@opentelemetry\/(?!api\/)/.test(url);

  const without = await loadedModules({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.settings.OTEL_EXPORTER_OTLP_ENDPOINT });
  expect(without.filter((url) => url.endsWith('/dist/app/build.js'))).toHaveLength(1);
  expect(without.filter(isOfSdk)).toEqual([]);
  const withSdk = await loadedModules(receiver.settings);
  expect(withSdk.filter((url) => url.endsWith('/otel.mjs'))).toHaveLength(1);
  // If threads and encoder processes got the operator's options, the report would contain their modules.
  expect(withSdk.filter((url) => /worker\.js$|encoder\/process\.js$/.test(url))).toEqual([]);
});

test('a collector that is set while no SDK is loaded causes one warning at start', async () => {
  const service = await startUntilTestEnds({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
  const warnings = logLines(service).filter(({ msg }) => String(msg).startsWith(WARNING));
  expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining('NODE_OPTIONS=--import=/path/to/otel.mjs')]);
});

test('traces are sent as protobuf by default, with the operator’s service name', async () => {
  const { get, receiver, service } = await startTracedService({
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_SERVICE_NAME: 'images',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
  });
  const response = await get(`/channel/${SAMPLE_ID}`);
  await expect.poll(() => receiver.sent()).toContain('GET /channel/:identifier');
  expect(receiver.exports[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/x-protobuf' },
  });
  // Between a text's name and the text are two tags and two lengths of one byte each.
  for (const [name, text] of [
    ['pennant.request_id', response.headers.get('x-request-id')],
    ['service.name', 'images'],
    ['deployment.environment.name', 'staging'],
  ]) {
    expect(receiver.sent()).toMatch(new RegExp(`${name}[^]{4}${text}`));
  }
  expect(service.output()).not.toContain(WARNING);
});

test('a collector that does not respond delays no response and no stop', async () => {
  const { get, stop, receiver } = await startTracedService({
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
    OTEL_BSP_MAX_QUEUE_SIZE: '5',
  });
  receiver.hold();
  for (let request = 0; request < 30; request += 1) expect((await get('/')).status).toBe(200);
  await expect.poll(() => receiver.sent().match(/"spanId"/g)).toHaveLength(3);
  expect(await stop()).toBe(0);
});

test('traces are sent as JSON by setting, and contain no keys, no client addresses and no search texts', async () => {
  const channels = [{ id: 'UCreplayLighthouse000001', snippet: { title: 'Lighthouse' } }];
  const replay = await startReplayForTest({ dataApi: respondAsDataApi(channels) });
  const { get, receiver } = await startTracedService({
    ...youtubeSettings(replay.origin),
    SOURCES: 'youtube-data-api',
    YOUTUBE_API_KEY: KEY,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=key-of-the-collector',
    TRUST_PROXY: '127.0.0.1/32',
  });
  await get('/api/search?q=lighthouse', { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'a-rare-browser' });
  await expect.poll(() => receiver.sent()).toContain('GET /api/search');
  expect(replay.callsTo('data-api').map(({ path }) => path)).toEqual([expect.stringContaining('q=lighthouse')]);
  expect(receiver.exports[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-collector-key': 'key-of-the-collector',
  });
  const sent = receiver.sent();
  expect(sent).toContain(`{"key":"url.full","value":{"stringValue":"${replay.origin}/youtube/v3/search"}}`);
  for (const secret of [KEY, 'key-of-the-collector', 'lighthouse', '203.0.113.7', 'a-rare-browser']) {
    expect(sent).not.toContain(secret);
  }
});

test('a request that the sampler drops has no span, and its log line has no trace ID', async () => {
  const { get, stop, service } = await startTracedService({
    OTEL_TRACES_SAMPLER: 'always_off',
    ACCESS_LOG: 'on',
  });
  await get('/');
  await stop();
  const [line] = logLines(service).filter(({ msg }) => msg === 'request');
  expect(line).toMatchObject({ requestId: expect.any(String) });
  expect(line).not.toHaveProperty('trace_id');
});
