import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import {
  logLines,
  SDK_FILE,
  startTracedService,
  startTraceReceiver,
  startUntilTestEnds,
} from '../helpers/traced-service.ts';

const SAMPLE_ID = 'UCPennantSample00000001A';
const MODULES_REPORTER = join(import.meta.dirname, 'report-loaded-modules.ts');
const WARNING = 'OTEL_EXPORTER_OTLP_ENDPOINT is set, but no OpenTelemetry SDK is loaded';

/** The modules that the service loads for a record and for a picture by an encoder process. */
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
  const page = await readFile(join(import.meta.dirname, '../../docs/tracing.md'), 'utf8');
  expect(page).toContain(`\`\`\`js\n${await readFile(SDK_FILE, 'utf8')}\`\`\``);
});

test('the SDK is loaded once, by the operator’s option only, and not in threads and encoder processes', async () => {
  const receiver = await startTraceReceiver();
  const isOfSdk = (url: string) => /\/@opentelemetry\/(?!api\/)/.test(url);

  const without = await loadedModules({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.settings.OTEL_EXPORTER_OTLP_ENDPOINT });
  expect(without.filter((url) => url.endsWith('/src/app/build.ts'))).toHaveLength(1);
  expect(without.filter(isOfSdk)).toEqual([]);
  const withSdk = await loadedModules(receiver.settings);
  expect(withSdk.filter((url) => url.endsWith('/otel.mjs'))).toHaveLength(1);
  // If threads and encoder processes got the operator's options, the report would contain their modules.
  expect(withSdk.filter((url) => /worker\.ts$|encoder\/start\.ts$/.test(url))).toEqual([]);
});

test('a collector that is set while no SDK is loaded causes one warning at start', async () => {
  const service = await startUntilTestEnds({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
  const warnings = logLines(service).filter(({ msg }) => String(msg).startsWith(WARNING));
  expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining('NODE_OPTIONS=--import=/path/to/otel.mjs')]);
});

test('traces are sent as protobuf by default or as JSON by setting, with the operator’s service name', async () => {
  const { get, stop, receiver, service } = await startTracedService({
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_SERVICE_NAME: 'pictures',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
  });
  const response = await get(`/channel/${SAMPLE_ID}`);
  await stop();
  expect(receiver.exports).toMatchObject([
    { path: '/v1/traces', headers: { 'content-type': 'application/x-protobuf' } },
  ]);
  const sent = receiver.exports[0]?.body.toString('latin1');
  expect(sent).toContain('GET /channel/:identifier');
  // Between a text's name and the text are two tags and two lengths of one byte each.
  for (const [name, text] of [
    ['pennant.request_id', response.headers.get('x-request-id')],
    ['service.name', 'pictures'],
    ['deployment.environment.name', 'staging'],
  ]) {
    expect(sent).toMatch(new RegExp(`${name}[^]{4}${text}`));
  }
  expect(service.output()).not.toContain(WARNING);
});

test('a collector that does not answer delays no response and no stop', async () => {
  const { get, service, receiver } = await startTracedService({
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
    OTEL_BSP_MAX_QUEUE_SIZE: '5',
  });
  receiver.hold();
  for (let request = 0; request < 30; request += 1) expect((await get('/')).status).toBe(200);
  await expect.poll(() => receiver.spans()).toHaveLength(3);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});
