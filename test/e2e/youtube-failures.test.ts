import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { SOFT_TIMEOUT_MS } from '../../src/cache/cache.ts';
import { PROBLEMS } from '../../src/http/response/problems.ts';
import { DOWNLOAD_MS } from '../../src/images/download.ts';
import { UPSTREAM_CALL_MS } from '../../src/sources/source.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../helpers/app.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';
import { FAILURE_KINDS, type FailureKind, ORIGIN_WITHOUT_ADDRESS } from '../helpers/failure-kinds.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { findRefusingOrigin } from '../helpers/fake-upstream.ts';
import type { InProcessResponse } from '../helpers/in-process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { HANG_MS, WAIT } from '../helpers/wait.ts';
import { startYoutubeService } from '../helpers/youtube-service.ts';

/**
 * Requests while upstream fails. The `stored` ones were loaded before and are stale. Searches are last: their loads go on, with
 * a timer like that of a stale value.
 */
const QUESTIONS = {
  'record, new': '/api/channel/UCreplayQuiet00000000007',
  'record, stored': '/api/channel/UCreplayLighthouse000001',
  'name, new': '/api/channel/quietly?type=handle',
  'name, stored': '/api/channel/BellRockLight?type=handle',
  'image, new': '/UCreplayHarbour000000002/tv',
  'image, stored': '/UCreplayLighthouse000001/tv',
  'search, new': '/api/search?q=darkness',
  'search, stored': '/api/search?q=light',
} as const;

type Question = keyof typeof QUESTIONS;
const questions = Object.keys(QUESTIONS) as Question[];
const isStored = (question: Question) => question.endsWith('stored');

interface Observation {
  readonly response: InProcessResponse;
  /** The response to the same request before upstream failed. */
  readonly before: InProcessResponse | undefined;
}

type Observations = Readonly<Record<Question, Observation>>;

const HOUR_MS = 3_600_000;
const EXACT_TIME = '2011-02-01T06:30:15Z';

/** Lets the time of these timers pass, as soon as the service sets one, until the responses are there. */
async function passTimers<T>(clock: ManualClock, timersMs: readonly number[], responses: Promise<T>): Promise<T> {
  const over = new AbortController();
  async function pass(ms: number): Promise<void> {
    while (!over.signal.aborted) await clock.passTimer(ms, over.signal).catch(() => undefined);
  }
  for (const ms of timersMs) void pass(ms);
  return responses.finally(() => over.abort());
}

/** A limit that another one has used up has nothing left. */
const EVERY_WAIT = [0, SOFT_TIMEOUT_MS, UPSTREAM_CALL_MS, DOWNLOAD_MS];

const isTimeout = ({ code }: Pick<FailureKind, 'code'>) => code === 'upstream_timeout';

interface Stored {
  readonly dataDir: string;
  /** The responses when they were stored. */
  readonly responses: ReadonlyMap<string, InProcessResponse>;
}

/** How much later upstream fails: images are fresh for a day. */
const FAILS_AFTER_MS = 25 * HOUR_MS;
/** Stale searches are usable for a day. */
const SEARCH_AFTER_MS = 23 * HOUR_MS;

/** Loads the `stored` ones. */
async function store(): Promise<Stored> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-failure-'));
  const { service, close } = await startYoutubeService({}, { dataDir, encoder: createFakeEncoder() });
  const responses = new Map<string, InProcessResponse>();
  const ask = async (url: string) => void responses.set(url, await service.get(url));
  await service.get(QUESTIONS['record, stored']);
  // Fields that are filled in after the first response are part of the last good value.
  const stored = async () => (await service.getLater(QUESTIONS['record, stored'])).text;
  await vi.waitFor(async () => expect(await stored()).toContain(EXACT_TIME), WAIT);
  await ask(QUESTIONS['name, stored']);
  await ask(QUESTIONS['record, stored']);
  await ask(QUESTIONS['image, stored']);
  await ask('/api/channel/UCreplayHarbour000000002');
  service.clock.advance(SEARCH_AFTER_MS);
  await ask(QUESTIONS['search, stored']);
  await close();
  return { dataDir, responses };
}

/** Sends all requests while upstream fails in one way. */
async function observeFailure({ upstream, code }: FailureKind, stored: Stored): Promise<Observations> {
  const isSlow = isTimeout({ code });
  const clock = createManualClock();
  clock.advance(FAILS_AFTER_MS);
  const everyWait = isSlow ? EVERY_WAIT : [];
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-failure-'));
  cpSync(stored.dataDir, dataDir, { recursive: true });
  const failing = await startFailing(upstream, { clock, dataDir, encoder: createFakeEncoder() });
  try {
    const observations: Partial<Record<Question, Observation>> = {};
    const observe = async (question: Question) => {
      const url = QUESTIONS[question];
      const response = await failing.service.get(url);
      observations[question] = { response, before: stored.responses.get(url) };
    };
    // One after another: the time that one of them waits is not that of the others.
    for (const question of questions.filter(isStored)) {
      await passTimers(clock, isSlow ? [0, SOFT_TIMEOUT_MS] : [], observe(question));
    }
    const others = questions.filter((question) => !isStored(question));
    await passTimers(clock, everyWait, Promise.all(others.map(observe)));
    return observations as Observations;
  } finally {
    await passTimers(clock, everyWait, failing.close());
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Starts the service with an upstream that fails in this way. */
async function startFailing(
  upstream: FailureKind['upstream'],
  options: TestAppOptions,
): Promise<{ readonly service: TestApp; close(): Promise<void> }> {
  if (typeof upstream === 'function') {
    const running = await startYoutubeService({}, options);
    running.replay.misbehave('all', upstream);
    return running;
  }
  const origin = upstream === 'has no address' ? ORIGIN_WITHOUT_ADDRESS : await findRefusingOrigin();
  const service = await startTestApp({ ...options, env: youtubeSettings(origin) });
  return { service, close: service.close };
}

const observed = new Map<string, Observations>();

beforeAll(async () => {
  const stored = await store();
  for (const kind of FAILURE_KINDS) observed.set(kind.name, await observeFailure(kind, stored));
  await rm(stored.dataDir, { recursive: true });
}, FAILURE_KINDS.length * HANG_MS);

function observationOf(kind: string, question: Question): Observation {
  const observation = observed.get(kind)?.[question];
  if (observation === undefined) throw new Error(`${question} was not asked of ${kind}`);
  return observation;
}

describe.each(FAILURE_KINDS)('while upstream fails with $name', ({ name, code }) => {
  it.each(questions.filter((question) => !isStored(question)))('%s: gets the error and a Retry-After', (question) => {
    const { response } = observationOf(name, question);
    expect([response.json().code, response.status]).toEqual([code, PROBLEMS[code].status]);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(response.text).not.toMatch(/127\.0\.0\.1|ECONN|ENOTFOUND|upstreamupstream|google\.com/);
  });

  it.each(questions.filter(isStored))('%s: gets the last good value', (question) => {
    const { response, before } = observationOf(name, question);
    expect(response.status).toBe(200);
    expect(response.bytes.equals(before?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(response.headers.etag).toBe(before?.headers.etag);
    const maxAge = question.startsWith('image') ? 86_400 : 60;
    expect(response.headers['cache-control']).toBe(`public, max-age=${maxAge}`);
    expect(response.headers['cache-status']).toMatch(/^pennant; hit; ttl=-\d+; detail="[\w ]+"$/);
  });
});

it('the Retry-After of upstream is passed on', () => {
  const { response } = observationOf('429 with Retry-After: 90', 'record, new');
  expect(response.headers['retry-after']).toBe('90');
});
