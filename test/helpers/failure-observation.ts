import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import { eventuallyAnswers, startTestApp, type TestApp } from './app.ts';
import { createRunningClock } from './clock.ts';
import type { FailureKind } from './failure-kinds.ts';
import { findRefusingOrigin } from './fake-upstream.ts';
import type { InProcessResponse } from './in-process.ts';
import { youtubeSettings } from './replay-server.ts';
import { startYoutubeService } from './youtube-service.ts';

/** What is asked for while upstream fails; `stored` ones were answered before, and are older than their freshness. */
export const QUESTIONS = {
  'record, new': '/api/channel/UCreplayQuiet00000000007',
  'record, stored': '/api/channel/UCreplayLighthouse000001',
  'name, new': '/api/channel/quietly?type=handle',
  'name, stored': '/api/channel/BellRockLight?type=handle',
  'search, new': '/api/search?q=darkness',
  'search, stored': '/api/search?q=light',
  'picture, new': '/UCreplayHarbour000000002/tv',
  'picture, stored': '/UCreplayLighthouse000001/tv',
} as const;

export type Question = keyof typeof QUESTIONS;

export interface Observation {
  readonly answer: InProcessResponse;
  /** The answer to the same question before upstream failed. */
  readonly before: InProcessResponse | undefined;
  /** For people: a busy machine may take any time. */
  readonly seconds: number;
  /** How many of the other questions were answered before. */
  readonly place: number;
}

export type Observations = Readonly<Record<Question, Observation>>;

const HOUR_MS = 3_600_000;
const EXACT_TIME = '2011-02-01T06:30:15Z';

/** Asks a service all questions at once while upstream fails in one way. */
export async function observeFailure({ upstream }: FailureKind): Promise<Observations> {
  const clock = createRunningClock();
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-failure-'));
  const encoder = createEncoder({ processes: 1 });
  const healthy = await startYoutubeService({}, { clock, dataDir, encoder });
  let asked: TestApp = healthy.service;
  try {
    const before = new Map<string, InProcessResponse>();
    const ask = async (url: string) => void before.set(url, await asked.get(url));
    await asked.get(QUESTIONS['record, stored']);
    // What is filled in behind the first answer is part of the last good value.
    await eventuallyAnswers(asked, async () =>
      expect((await asked.get(QUESTIONS['record, stored'])).text).toContain(EXACT_TIME),
    );
    await ask(QUESTIONS['name, stored']);
    await ask(QUESTIONS['record, stored']);
    await ask(QUESTIONS['picture, stored']);
    await ask('/api/channel/UCreplayHarbour000000002');
    // Pictures are fresh for a day, old searches may be shown for a day: 25 hours and 2 hours old, both are old.
    clock.advance(23 * HOUR_MS);
    await ask(QUESTIONS['search, stored']);
    clock.advance(2 * HOUR_MS);

    if (typeof upstream === 'function') healthy.replay.misbehave('all', upstream);
    else {
      const origin = upstream === 'has no address' ? 'http://upstream.invalid' : await findRefusingOrigin();
      asked = await startTestApp({ env: youtubeSettings(origin), clock, dataDir, encoder });
    }
    let answered = 0;
    const observations = Object.entries(QUESTIONS).map(async ([question, url]) => {
      const startedAt = performance.now();
      const answer = await asked.get(url);
      const seconds = (performance.now() - startedAt) / 1000;
      answered += 1;
      return [question, { answer, before: before.get(url), seconds, place: answered - 1 }];
    });
    return Object.fromEntries(await Promise.all(observations)) as Observations;
  } finally {
    if (asked !== healthy.service) await asked.close();
    await healthy.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The table for people: a line for each kind of failure, a column for each question. */
export function renderObservations(all: ReadonlyMap<string, Observations>): string {
  const heads = ['upstream', ...Object.keys(QUESTIONS)];
  const rows = [...all].map(([name, observations]) => [name, ...Object.values(observations).map(describe)]);
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function describe({ answer, seconds }: Observation): string {
  const { status, headers } = answer;
  const what = status === 200 ? `200 ${String(headers['cache-control']).replace('public, ', '')}` : `${status}`;
  const wait = headers['retry-after'] === undefined ? '' : `, Retry-After ${headers['retry-after']}`;
  return `${what}${wait}, ${seconds.toFixed(2)} s`;
}
