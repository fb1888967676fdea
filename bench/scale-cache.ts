import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeEntry } from '../src/cache/entry-table.ts';
import { systemClock } from '../src/lib/clock.ts';
import { openEntries } from '../test/helpers/entries.ts';
import type { Print, Row } from './report.ts';
import { CONSTANT, format, medianCpuMs, type Pair, scaleRow, spread } from './scale-report.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CALLS = 1_280;
const OPENINGS = 5;
const PURGES = 20;
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
  /** Into a full table. */
  readonly evictingWriteMs: number;
  readonly purgeMs: number;
}

/** Records and their names in `cache.db`. All figures are CPU time. */
export async function benchCacheAtScale(print: Print, sizes: Pair): Promise<Row[]> {
  const small = await measureCache(print, sizes.small);
  const large = await measureCache(print, sizes.large);
  const rowOf = (what: string, name: keyof Figures, limit?: typeof CONSTANT) =>
    scaleRow(`cache.db: ${what}, CPU time`, sizes, { small: small[name], large: large[name] }, 'ms', limit);
  return [
    rowOf('the opening and the first look-up', 'openMs', CONSTANT),
    rowOf('a look-up that finds a record', 'hitMs', CONSTANT),
    rowOf('a look-up that finds none', 'missMs', CONSTANT),
    rowOf('a write', 'writeMs', CONSTANT),
    rowOf('a write with its evictions', 'evictingWriteMs', CONSTANT),
    rowOf('a channel purged', 'purgeMs', CONSTANT),
  ];
}

function measureCache(print: Print, count: number): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    print(`writing ${format(count)} records into cache.db`);
    const path = join(directory, 'cache.db');
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
  const { file } = openEntries(path);
  const now = Date.now();
  for (let first = 0; first < count; first += RECORDS_PER_TRANSACTION) {
    file.writeOrThrow((sql) => {
      for (let number = first; number < Math.min(count, first + RECORDS_PER_TRANSACTION); number += 1) {
        // In random order, like requests of clients.
        const chosen = spread(number, count);
        const expiresAtMs = now + DAY_MS + number * 60;
        writeEntry(sql, keyOf(chosen), { value: recordTextOf(chosen), storedAtMs: now }, expiresAtMs);
        const value = channelIdOf(chosen);
        writeEntry(sql, `name1:handle:channel${chosen}`, { value, storedAtMs: now }, expiresAtMs);
      }
    });
  }
  file.close();
  // Otherwise the first measured call would write what is still in the system's memory.
  const written = openSync(path, 'r+');
  fsyncSync(written);
  closeSync(written);
}

async function measure(path: string, count: number): Promise<Figures> {
  const open = (maxBytes: number) => openEntries(path, { clock: systemClock, maxBytes });
  const openMs = await medianCpuMs(OPENINGS, async () => {
    const { table } = open(UNLIMITED_BYTES);
    await table.get(keyOf(0));
    await table.close();
  });
  const { table, file } = open(UNLIMITED_BYTES);
  const entryOf = (number: number) => ({ value: recordTextOf(number), storedAtMs: Date.now() });
  const hitMs = await medianCpuMs(CALLS, (number) => table.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(CALLS, (number) => table.get(keyOf(count + number)));
  const writeMs = await medianCpuMs(CALLS, (number) =>
    table.set(keyOf(count + number), entryOf(count + number), DAY_MS),
  );
  const purgeMs = await medianCpuMs(PURGES, (number) =>
    table.remove({ channelIds: [channelIdOf(spread(number, count))], keys: [] }),
  );
  const usedBytes = file.read((sql) => Number(sql('SELECT bytes FROM entry_usage').get()?.bytes)) ?? 0;
  await table.close();
  const full = open(usedBytes);
  const evictingWriteMs = await medianCpuMs(CALLS, (number) =>
    full.table.set(keyOf(count + CALLS + number), entryOf(count + CALLS + number), 365 * DAY_MS),
  );
  await full.table.close();
  return { openMs, hitMs, missMs, writeMs, evictingWriteMs, purgeMs };
}
