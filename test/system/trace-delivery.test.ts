import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort, launchService, startService } from '../helpers/service-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startTraceReceiver } from '../helpers/trace-receiver.ts';
import { logLines, startTracedService, startUntilTestEnds } from '../helpers/traced-service.ts';

const SAMPLE_ID = 'UCPennantSample00000001A';
const MODULES_REPORTER = join(import.meta.dirname, '../helpers/report-loaded-modules.ts');

/** What the service loads until it has answered: a record, and a picture by an encoder process. */
async function loadedModules(env: Record<string, string>): Promise<string[]> {
  const directory = await createTemporaryDirectory();
  const report = join(directory, 'modules');
  await writeFile(report, '');
  const service = await startService({
    directory,
    env: { NODE_OPTIONS: `--import=${MODULES_REPORTER}`, LOADED_MODULES_REPORT: report, ...env },
  });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  expect((await fetch(`${service.base}/${SAMPLE_ID}/tv.webp`)).status).toBe(200);
  return (await readFile(report, 'utf8')).split('\n');
}

test('nothing of OpenTelemetry’s SDK is loaded unless its variables ask for it', async () => {
  const receiver = await startTraceReceiver();
  onTestFinished(() => receiver.close());
  // prom-client brings the interface without anything behind it.
  const isOfSdk = (url: string) => /\/@opentelemetry\/(?!api\/)/.test(url);

  const without = await loadedModules({});
  expect(without.filter((url) => url.endsWith('/src/app/build.ts'))).toHaveLength(1);
  expect(without.filter(isOfSdk)).toEqual([]);
  const switchedOff = await loadedModules({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
    OTEL_SDK_DISABLED: 'true',
    OTEL_SERVICE_NAME: 'pictures',
  });
  expect(switchedOff.filter(isOfSdk)).toEqual([]);
  const wanted = await loadedModules({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin });
  expect(wanted.some((url) => url.includes('/@opentelemetry/sdk-trace/'))).toBe(true);
  expect(wanted.filter((url) => url.includes('/exporter-trace-otlp-http/'))).toEqual([]);
});

test('traces go out as protobuf unless JSON is asked for, with the name that the operator gives', async () => {
  const { get, stop, receiver } = await startTracedService({
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_SERVICE_NAME: 'pictures',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
  });
  const answer = await get(`/channel/${SAMPLE_ID}`);
  const spans = await stop();
  expect(receiver.exports).toMatchObject([
    { path: '/v1/traces', headers: { 'content-type': 'application/x-protobuf' } },
  ]);
  expect(spans.find(({ kind }) => kind === 2)).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    name: 'GET /channel/:identifier',
    attributes: { 'pennant.request_id': answer.headers.get('x-request-id'), 'http.response.status_code': 200 },
    resource: { 'service.name': 'pictures', 'deployment.environment.name': 'staging' },
  });
});

test('while the collector is away answers go on; its going and its coming back are told once each', async () => {
  const port = await findFreePort();
  const service = await startUntilTestEnds({
    // A name with two addresses, as a rule.
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://localhost:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    // Too short for a second try, which would come a second later.
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  const told = () =>
    logLines(service)
      .filter(({ part }) => part === 'traces')
      .map(({ msg }) => msg);
  const degraded = async () => (await fetch(`${service.inside}/readyz`)).text();

  async function askUntil(isDone: () => boolean): Promise<void> {
    await expect
      .poll(async () => {
        expect((await fetch(service.base)).status).toBe(200);
        return isDone();
      })
      .toBe(true);
  }

  await askUntil(() => told().length > 0);
  const failures = [expect.stringMatching(/^traces: cannot be sent \(.*ECONNREFUSED.*\)$/)];
  expect(await degraded()).toContain('traces');
  // Several more exports fail: each takes up to 50 ms to begin.
  for (let round = 0; round < 10; round += 1) {
    expect((await fetch(service.base)).status).toBe(200);
    await delay(60);
  }
  expect(told()).toEqual(failures);

  const receiver = await startTraceReceiver(port);
  onTestFinished(() => receiver.close());
  await askUntil(() => receiver.exports.length >= 3);
  await expect.poll(told).toEqual([...failures, 'traces works again']);
  expect(await degraded()).not.toContain('traces');
});

test('a collector that does not answer holds up no answer and no stop, and no more spans wait than are allowed', async () => {
  const { get, service, receiver } = await startTracedService({
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
    OTEL_BSP_MAX_QUEUE_SIZE: '5',
  });
  receiver.hold();
  for (let request = 0; request < 30; request += 1) expect((await get('/')).status).toBe(200);
  await expect.poll(() => receiver.spans()).toHaveLength(3);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  // Three were under way, five had waited; the others were dropped.
  expect(receiver.spans()).toHaveLength(8);
});

test('what cannot be used is told at start', async () => {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'data'));
  const { ended, output } = launchService({
    directory,
    env: {
      PORT: 'none',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    },
  });
  expect(await ended).toBe(1);
  expect(output()).toMatch(/^ {2}PORT: /m);
  expect(output()).toMatch(/^ {2}OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported: use http\/protobuf/m);
});
