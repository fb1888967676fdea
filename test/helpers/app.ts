import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type AppOverrides, buildApp } from '../../src/app/build.ts';
import { shownSettings } from '../../src/config/report.ts';
import { parseConfig } from '../../src/config/settings.ts';
import type { Condition } from '../../src/domain/source-status.ts';
import type { Listener } from '../../src/lib/http/listener.ts';
import type { Logger } from '../../src/lib/logger.ts';
import type { ConsoleState } from '../../src/private/state.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { createFakeEncoder } from './fake-encoder.ts';
import { type InProcessRequest, sendInProcess } from './in-process.ts';
import { readMetrics } from './metrics.ts';
import { copyStartedDataDir } from './started-data-dir.ts';

export type TestApp = Awaited<ReturnType<typeof startTestApp>>;

export interface TestAppOptions extends Omit<AppOverrides, 'clock'> {
  readonly env?: Record<string, string>;
  readonly clock?: ManualClock;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /** Kept after `close`, so that another app can start on it. */
  readonly dataDir?: string;
}

/** Settings with every optional component. No call is made before the first request. */
export const EVERY_SOURCE = {
  SOURCES: 'catalog,youtube,youtube-data-api',
  YOUTUBE_API_KEY: 'key',
};

const SILENT = pino({ level: 'silent' });

/** The real service in this process, with the sample catalog, without a rate limit unless the settings name one. */
export async function startTestApp(options: TestAppOptions = {}) {
  const { env = {}, clock = createManualClock(), dataDir: givenDir, logger = SILENT, ...overrides } = options;
  const dataDir = givenDir ?? (await mkdtemp(join(tmpdir(), 'pennant-test-')));
  const settings = {
    // A test that brings its own sources uses no catalog, unless it says so.
    SOURCES: overrides.sources === undefined ? 'catalog' : 'youtube',
    RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited',
    ENCODERS: '1',
    DATA_DIR: dataDir,
    ...env,
  };
  const config = parseConfig(settings);
  if (givenDir === undefined) copyStartedDataDir(dataDir);
  const app = await buildApp(config, {
    logger,
    version: '0.0.0-test',
    clock,
    settings: shownSettings(settings),
    ...overrides,
  });
  const metric = async (series: string) => readMetrics((await askConsole('/metrics')).text).get(series);
  const request = (wanted: InProcessRequest) => sendInProcess(app.http, wanted);
  function askConsole(wanted: string | InProcessRequest) {
    const { headers, ...rest } = typeof wanted === 'string' ? { url: wanted } : wanted;
    return sendInProcess(app.console, { ...rest, headers: { host: 'localhost', ...headers } });
  }

  return {
    app,
    clock,
    dataDir,
    /** Sends a request to the public listener without a socket. */
    request,
    get: (url: string, headers: Record<string, string> = {}) => request({ url, headers }),
    /** The same, a second later on its clock, because the micro-cache repeats a response for a second. */
    getLater(url: string) {
      clock.advance(1_000);
      return request({ url });
    },
    /** Sends a request to the private listener without a socket, with a loopback name in `Host` by default. */
    console: askConsole,
    /** The response of `/readyz`. */
    readiness: async (): Promise<{ ready: boolean; conditions: readonly Condition[]; version: string }> =>
      (await askConsole('/readyz')).json(),
    /** The console's state. */
    state: async (): Promise<ConsoleState> => (await askConsole('/state.json')).json(),
    /** The value of one series in `/metrics`; `undefined` if there is none. */
    metric,
    /** Sends a purge with the field that the private listener requires. */
    purge: (channel: string) =>
      askConsole({
        method: 'POST',
        url: `/purge?channel=${encodeURIComponent(channel)}`,
        headers: { 'x-pennant-console': 'test' },
      }),
    /** Makes a listener, by default the public one, listen on 127.0.0.1. @returns the port */
    async listen(listener: Listener = app.http) {
      return Number(new URL(await listener.listen({ host: '127.0.0.1', port: 0 })).port);
    },
    async close() {
      await app.close();
      if (givenDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The same. It closes when the test ends. */
export async function startForTest(options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startTestApp(options);
  onTestFinished(() => service.close());
  return service;
}

/** The same, with an encoder that encodes nothing. */
export function startWithoutEncoder(options: TestAppOptions = {}): Promise<TestApp> {
  return startForTest({ encoder: createFakeEncoder(), ...options });
}

/** A service for all tests of the file or `describe`, which do not change it. Its properties are set when they begin. */
export function useTestApp(options: TestAppOptions = {}): TestApp {
  const service = {} as TestApp;
  beforeAll(async () => void Object.assign(service, await startTestApp(options)));
  afterAll(() => service.close?.());
  return service;
}
