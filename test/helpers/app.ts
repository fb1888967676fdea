import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { vi } from 'vitest';
import { type App, type AppOverrides, buildApp } from '../../src/app/build.ts';
import { parseConfig } from '../../src/config/settings.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { type InProcessRequest, sendInProcess } from './in-process.ts';
import { WAIT } from './wait.ts';

export interface TestApp {
  readonly app: App;
  readonly clock: ManualClock;
  readonly dataDir: string;
  /** A request through the whole service without a socket. */
  get(url: string, headers?: Record<string, string>): Promise<TestAnswer>;
  request(options: InProcessRequest): Promise<TestAnswer>;
  close(): Promise<void>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly bytes: Buffer;
  readonly text: string;
  json<T = Record<string, unknown>>(): T;
}

export interface TestAppOptions extends Omit<AppOverrides, 'clock'> {
  readonly env?: Record<string, string>;
  readonly clock?: ManualClock;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /** Kept after `close`, so that another app can start on it. */
  readonly dataDir?: string;
}

/** Settings that give a service all that it can have; nothing is asked of anybody before the first request. */
export const EVERY_SOURCE = {
  SOURCES: 'catalog,youtube,youtube-data-api',
  YOUTUBE_API_KEY: 'key',
  YOUTUBE_CANARY: '@handle',
};

const SILENT = pino({ level: 'silent' });

/** The real service in this process, with the sample catalog, without a rate limit unless the settings name one. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { env = {}, clock = createManualClock(), dataDir: givenDir, logger = SILENT, ...overrides } = options;
  const dataDir = givenDir ?? (await mkdtemp(join(tmpdir(), 'pennant-test-')));
  const config = parseConfig({
    SOURCES: 'catalog',
    RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited',
    ENCODERS: '1',
    DATA_DIR: dataDir,
    ...env,
  });
  const app = await buildApp(config, { logger, version: '0.0.0-test', clock, ...overrides });
  async function request(wanted: InProcessRequest) {
    const { statusCode, headers, rawPayload } = await sendInProcess(app.http, wanted);
    const text = rawPayload.toString('utf8');
    return {
      status: statusCode,
      headers: headers as Record<string, string | undefined>,
      bytes: rawPayload,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  }

  return {
    app,
    clock,
    dataDir,
    request,
    get: (url, headers = {}) => request({ method: 'GET', url, headers }),
    async close() {
      await app.close();
      if (givenDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Asks again and again until the check holds, each time a second later by the service's clock: an answer that was just
 * given is given again for that long.
 */
export function eventuallyAnswers<T>(service: Pick<TestApp, 'clock'>, check: () => Promise<T>): Promise<T> {
  return vi.waitFor(
    () => {
      service.clock.advance(1_000);
      return check();
    },
    { ...WAIT, interval: 50 },
  );
}
