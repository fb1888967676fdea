import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { changeOfChannels } from '../src/store/changes.ts';
import { createSqliteStore, databasePath } from '../src/store/sqlite.ts';
import { prepareSchema } from '../src/store/sqlite-schema.ts';
import { openCacheTables } from '../src/store/sqlite-tables.ts';
import type { Print } from './parts.ts';
import type { Row } from './report.ts';
import { flatRow, format, inTemporaryDirectory, medianMs, type Sizes, spread, timesOf } from './scale-report.ts';

const CALLS = 1_000;
const DAY_MS = 86_400_000;
const RECORDS_PER_TRANSACTION = 10_000;
/** As long as a stored record is on average (docs/scaling.md). */
const DESCRIPTION = 'x'.repeat(900);
const UNLIMITED_BYTES = 1e12;

interface Figures {
  readonly openMs: number;
  readonly hitMs: number;
  readonly missMs: number;
  readonly writeMs: number;
  readonly evictingWriteMs: number;
  readonly eraseMs: number;
}

/** Records in `cache.db`, asked for through its thread as the service does it. */
export async function benchCacheAtScale(print: Print, sizes: Sizes): Promise<Row[]> {
  const small = await measureCache(print, sizes.small);
  const large = await measureCache(print, sizes.large);
  const pair = (name: keyof Figures) => ({ small: small[name], large: large[name] });
  return [
    flatRow('cache.db: the start of its thread and the first look-up, records', sizes, pair('openMs'), 'ms'),
    flatRow('cache.db: a look-up that finds a record', sizes, pair('hitMs'), 'ms'),
    flatRow('cache.db: a look-up that finds none', sizes, pair('missMs'), 'ms'),
    flatRow('cache.db: a write', sizes, pair('writeMs'), 'ms'),
    flatRow('cache.db: a write with its share of evictions', sizes, pair('evictingWriteMs'), 'ms'),
    {
      part: 'scale',
      what: `cache.db: a channel erased, ${format(sizes.large)} / ${format(sizes.small)}`,
      measured: `${(large.eraseMs / 1000).toFixed(2)} / ${(small.eraseMs / 1000).toFixed(2)} s`,
    },
  ];
}

function measureCache(print: Print, count: number): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    print(`writing ${format(count)} records into cache.db`);
    const path = databasePath(directory);
    fill(path, count);
    print('reading and writing among them');
    return measure(path, count);
  });
}

function channelIdOf(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

function keyOf(number: number): string {
  return `channel1:${channelIdOf(number)}`;
}

function recordTextOf(number: number): string {
  return JSON.stringify({ value: { channelId: channelIdOf(number), description: DESCRIPTION } });
}

function fill(path: string, count: number): void {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON');
  prepareSchema(db);
  const tables = openCacheTables(db, UNLIMITED_BYTES);
  const now = Date.now();
  for (let number = 0; number < count; number += 1) {
    if (number % RECORDS_PER_TRANSACTION === 0) db.exec('BEGIN');
    // In no order, as clients ask for them.
    const chosen = spread(number, count);
    tables.set(keyOf(chosen), { value: recordTextOf(chosen), storedAtMs: now }, now + DAY_MS + number * 60);
    if (number % RECORDS_PER_TRANSACTION === RECORDS_PER_TRANSACTION - 1 || number === count - 1) db.exec('COMMIT');
  }
  db.close();
}

async function measure(path: string, count: number): Promise<Figures> {
  const open = (maxBytes: number) => createSqliteStore({ path, maxBytes, onEvent: () => undefined });
  const startedMs = performance.now();
  const store = open(UNLIMITED_BYTES);
  await store.get(keyOf(0));
  const openMs = performance.now() - startedMs;
  const entryOf = (number: number) => ({ value: recordTextOf(number), storedAtMs: Date.now() });
  const hitMs = await medianMs(CALLS, (number) => store.get(keyOf(spread(number, count))));
  const missMs = await medianMs(CALLS, (number) => store.get(keyOf(count + number)));
  const writeMs = await meanMs((number) => store.set(keyOf(count + number), entryOf(count + number), DAY_MS));
  const [eraseMs = 0] = await timesOf(1, () => store.erase(changeOfChannels(new Set([channelIdOf(1)]))));
  await store.close();
  const full = open(statSync(path).size);
  await full.get(keyOf(0));
  const evictingWriteMs = await meanMs((number) =>
    full.set(keyOf(count + CALLS + number), entryOf(count + number), 365 * DAY_MS),
  );
  await full.close();
  return { openMs, hitMs, missMs, writeMs, evictingWriteMs, eraseMs };
}

/** One in sixteen writes makes room for all: the median would not show it. */
async function meanMs(call: (number: number) => unknown): Promise<number> {
  const times = await timesOf(CALLS, call);
  return times.reduce((sum, ms) => sum + ms, 0) / times.length;
}
