import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checksumOf } from '../src/store/keys.ts';
import { createSqliteStore, databasePath } from '../src/store/sqlite.ts';
import { prepareSchema, prepareStatements } from '../src/store/sqlite-schema.ts';
import type { Print, Row } from './report.ts';
import { CONSTANT, format, medianCpuMs, type Pair, scaleRow, spread } from './scale-report.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CALLS = 1_280;
const OPENINGS = 5;
const PURGES = 20;
/** Among so many writes, room is made for several entries at least once (sqlite-worker.ts). */
const GROUP = 64;
const DAY_MS = 86_400_000;
const RECORDS_PER_TRANSACTION = 10_000;
/** The average length of a stored record. */
const DESCRIPTION = 'x'.repeat(900);
const UNLIMITED_BYTES = 1e12;

interface Figures {
  readonly openMs: number;
  readonly hitMs: number;
  readonly missMs: number;
  readonly writeMs: number;
  /** CPU time of `GROUP` writes. */
  readonly evictingWritesMs: number;
  readonly purgeMs: number;
}

/** Records and their names in `cache.db`, read through its thread like in the service. All figures are CPU time. */
export async function benchCacheAtScale(print: Print, sizes: Pair): Promise<Row[]> {
  const small = await measureCache(print, sizes.small);
  const large = await measureCache(print, sizes.large);
  const rowOf = (what: string, name: keyof Figures, limit?: typeof CONSTANT) =>
    scaleRow(`cache.db: ${what}, CPU time`, sizes, { small: small[name], large: large[name] }, 'ms', limit);
  return [
    rowOf('the start of its thread and the first look-up', 'openMs', CONSTANT),
    rowOf('a look-up that finds a record', 'hitMs', CONSTANT),
    rowOf('a look-up that finds none', 'missMs', CONSTANT),
    rowOf('a write', 'writeMs', CONSTANT),
    rowOf(`${GROUP} writes with their evictions`, 'evictingWritesMs', CONSTANT),
    rowOf('a channel purged', 'purgeMs', CONSTANT),
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
  const { upsert } = prepareStatements(db);
  const now = Date.now();
  for (let number = 0; number < count; number += 1) {
    if (number % RECORDS_PER_TRANSACTION === 0) db.exec('BEGIN');
    // In random order, like requests of clients.
    const chosen = spread(number, count);
    const [key, value] = [keyOf(chosen), recordTextOf(chosen)];
    upsert.run(key, null, value, now, now + DAY_MS + number * 60, checksumOf(key, value));
    const [name, leadsTo] = [`name1:handle:channel${chosen}`, channelIdOf(chosen)];
    upsert.run(name, leadsTo, leadsTo, now, now + DAY_MS + number * 60, checksumOf(name, leadsTo));
    if (number % RECORDS_PER_TRANSACTION === RECORDS_PER_TRANSACTION - 1 || number === count - 1) db.exec('COMMIT');
  }
  db.close();
  // Otherwise the first measured call would write what is still in the system's memory.
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

async function measure(path: string, count: number): Promise<Figures> {
  const open = (maxBytes: number) => createSqliteStore({ path, maxBytes, onEvent: () => undefined });
  const openMs = await medianCpuMs(OPENINGS, async () => {
    const opened = open(UNLIMITED_BYTES);
    await opened.get(keyOf(0));
    await opened.close();
  });
  const store = open(UNLIMITED_BYTES);
  const entryOf = (number: number) => ({ value: recordTextOf(number), storedAtMs: Date.now() });
  const hitMs = await medianCpuMs(CALLS, (number) => store.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(CALLS, (number) => store.get(keyOf(count + number)));
  const writeMs = await medianCpuMs(CALLS, (number) =>
    store.set(keyOf(count + number), entryOf(count + number), DAY_MS),
  );
  const purgeMs = await medianCpuMs(PURGES, (number) =>
    store.erase({ channelIds: [channelIdOf(spread(number, count))], names: [] }),
  );
  await store.close();
  const full = open(statSync(path).size);
  const write = (number: number) => full.set(keyOf(number), entryOf(number), 365 * DAY_MS);
  const evictingWritesMs = await medianCpuMs(CALLS / GROUP, async (group) => {
    for (let number = 0; number < GROUP; number += 1) await write(count + CALLS + group * GROUP + number);
  });
  await full.close();
  return { openMs, hitMs, missMs, writeMs, evictingWritesMs, purgeMs };
}
