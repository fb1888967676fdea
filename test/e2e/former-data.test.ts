import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { answerStatus, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { expectFormerAnswer, FORMER_ANSWERS, FORMER_DATA, FORMER_MS } from '../helpers/former-data.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';

/** The absence of a channel is stored for a minute, everything else for longer. */
const PAUSE_MS = 10_000;

let dataDir: string;
let stored: Stored;
let upstream: FakeUpstream;
let service: TestApp;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  await cp(join(FORMER_DATA, 'files'), dataDir, { recursive: true });
  stored = await storedIn(dataDir);
  upstream = await startFakeUpstream(answerStatus(500));
  service = await startTestApp({
    dataDir,
    clock: createManualClock(FORMER_MS + PAUSE_MS),
    encoder: createFakeEncoder({ inspect: refuse, encode: refuse, reencode: refuse }),
    env: { ...youtubeSettings(upstream.origin), SOURCES: 'catalog,youtube', SAMPLE_CATALOG: 'off' },
  });
});
afterAll(async () => {
  await service?.close();
  await upstream?.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function refuse(): Promise<never> {
  throw new Error('a stored picture was not found');
}

interface Stored {
  readonly pictures: readonly string[];
  readonly entries: readonly unknown[];
}

/** The content of a data directory that no service is using. */
async function storedIn(directory: string): Promise<Stored> {
  const folders = ['pictures', 'catalog-images'].map((name) => readdir(join(directory, name), { recursive: true }));
  const names = (await Promise.all(folders)).flat();
  const database = new DatabaseSync(join(directory, 'cache.db'));
  const entries = database.prepare('SELECT * FROM entries ORDER BY key').all();
  database.close();
  return { pictures: names.filter((name) => name.includes('.')).sort(), entries };
}

test.each(FORMER_ANSWERS)('a data directory of a former version still serves $url', async (former) => {
  const requestsBefore = upstream.requests.length;
  await expectFormerAnswer(service, former);
  expect(upstream.requests.slice(requestsBefore)).toEqual([]);
});

test('a data directory of a former version keeps all its data', async () => {
  await service.close();
  expect(stored.pictures).not.toEqual([]);
  expect(stored.entries).not.toEqual([]);
  expect(await storedIn(dataDir)).toEqual(stored);
});
