import { readdir, readFile, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeStoreContract } from '../../test/contracts/store.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createSqliteStore, type SqliteStoreEvent } from './sqlite.ts';

const MEBIBYTE = 1024 * 1024;
const HOUR_MS = 3_600_000;

async function setUp(options: { directory?: string; maxBytes?: number } = {}) {
  const directory = options.directory ?? (await createTemporaryDirectory());
  const path = join(directory, 'cache.db');
  const clock = createManualClock();
  const events: SqliteStoreEvent[] = [];

  function open() {
    const store = createSqliteStore({
      path,
      maxBytes: options.maxBytes ?? 64 * MEBIBYTE,
      clock,
      onEvent: (event) => events.push(event),
    });
    onTestFinished(() => store.close());
    return store;
  }

  return { path, directory, clock, events, open };
}

function entryOf(value: string) {
  return { value, storedAtMs: 1 };
}

describeStoreContract('the SQLite store', async () => {
  const { open, clock } = await setUp();
  return { store: open(), advance: clock.advance, reopen: open };
});

describe('an invalid cache.db when it is opened', () => {
  it.each<[string, (path: string) => Promise<void> | void]>([
    ['garbage', (path) => writeFile(path, Buffer.alloc(20_000, 'garbage'))],
    ['truncated in the middle', (path) => truncate(path, 5_000)],
    ['of another version', (path) => changeDatabase(path, 'PRAGMA user_version = 999')],
    ['without its table', (path) => changeDatabase(path, 'DROP TABLE entries')],
    ['of another user', (path) => changeDatabase(path, 'DROP TABLE entries; CREATE TABLE entries (other TEXT)')],
  ])('is recreated when it is %s, with one log line', async (_case, damage) => {
    const { path, events, open } = await setUp();
    const before = open();
    for (let n = 0; n < 50; n += 1) await before.set(`key ${n}`, entryOf('x'.repeat(500)), HOUR_MS);
    await before.close();
    await damage(path);

    const store = open();
    expect(await store.get('key 1')).toBeUndefined();
    await store.set('new', entryOf('value'), HOUR_MS);
    expect(await store.get('new')).toEqual(entryOf('value'));
    expect(events.map((event) => event.kind)).toEqual(['rebuilt']);
  });

  it('is used when it is empty', async () => {
    const { path, events, open } = await setUp();
    await writeFile(path, '');
    const store = open();
    await store.set('key', entryOf('value'), HOUR_MS);
    expect(await store.get('key')).toEqual(entryOf('value'));
    expect(events).toEqual([]);
  });
});

describe('a cache.db that is damaged while it is open', () => {
  it.each<[string, (path: string) => Promise<void>]>([
    ['deleted', unlink],
    ['truncated', (path) => truncate(path, 100)],
    ['replaced by another file', (path) => unlink(path).then(() => writeFile(path, 'garbage'))],
  ])('is recreated within a second when it is %s', async (_case, harm) => {
    const { path, clock, events, open } = await setUp();
    const store = open();
    await store.set('old', entryOf('value'), HOUR_MS);
    await harm(path);
    clock.advance(1_000);
    await store.set('new', entryOf('value'), HOUR_MS);
    expect(await store.get('new')).toEqual(entryOf('value'));
    expect(events[0]).toMatchObject({ kind: 'rebuilt' });
    await store.close();
    expect(await open().get('new')).toEqual(entryOf('value'));
  });

  it('never returns an entry whose bytes were changed', async () => {
    const { path, events, open } = await setUp();
    const store = open();
    await store.set('key', entryOf('right'), HOUR_MS);
    changeDatabase(path, "UPDATE entries SET value = 'wrong'");
    expect(await store.get('key')).toBeUndefined();
    expect(events).toEqual([{ kind: 'rebuilt', reason: expect.stringContaining('checksum') }]);
  });
});

describe('data erased from cache.db', () => {
  const CHANNEL = 'UCgone_________________A';

  it('is in no file afterwards, also after many changes and during concurrent reads', async () => {
    const { directory, open } = await setUp();
    const [store, other] = [open(), open()];
    const record = (round: number) => entryOf(`{"value":{"channelId":"${CHANNEL}","description":"${TEXT} ${round}"}}`);
    for (let round = 0; round < 20; round += 1) {
      await store.set(`channel1:${CHANNEL}`, record(round), HOUR_MS);
      await store.set(`channel1:another ${round}`, entryOf('x'.repeat(5_000)), HOUR_MS);
      await other.get(`channel1:${CHANNEL}`);
      await store.set(`search1:20:words ${round}`, record(round), HOUR_MS);
    }
    expect(await bytesIn(directory)).toContain(SECRET);
    await store.erase({ channelIds: [CHANNEL], names: [] });
    expect(await bytesIn(directory)).not.toContain(SECRET);
    expect((await other.get('channel1:another 19'))?.value).toHaveLength(5_000);
  });

  it('stays in the log while another process reads it: the erasure fails, and the next one empties the log', async () => {
    const { path, directory, open } = await setUp();
    const store = open();
    await store.set(`channel1:${CHANNEL}`, entryOf(TEXT), HOUR_MS);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM entries');
    const removal = { channelIds: [CHANNEL], names: [] };
    await expect(store.erase(removal)).rejects.toThrow('another process is reading the database');
    reader.close();
    await store.erase(removal);
    expect(await bytesIn(directory)).not.toContain(SECRET);
  });

  it('is in no file afterwards when it had expired or been evicted before', async () => {
    const { directory, clock, open } = await setUp({ maxBytes: 200_000 });
    const store = open();
    for (let n = 0; n < 50; n += 1) await store.set(`channel1:${n}`, entryOf(`${TEXT} ${n}`), 100);
    clock.advance(1_000);
    for (let n = 0; n < 400; n += 1) await store.set(`key ${n}`, entryOf('x'.repeat(1_000)), HOUR_MS);
    await store.erase({ channelIds: [CHANNEL], names: [] });
    expect(await bytesIn(directory)).not.toContain(SECRET);
  });
});

describe('a cache.db that cannot be opened', () => {
  it('makes every call fail with a clear error, and works again when it can be opened', async () => {
    const obstacle = join(await createTemporaryDirectory(), 'data');
    await writeFile(obstacle, 'a file where the directory should be');
    const { clock, open } = await setUp({ directory: obstacle });
    const store = open();
    const unusable = /The cache .*cache\.db cannot be used/;
    await expect(store.get('key')).rejects.toThrow(unusable);
    await expect(store.set('key', entryOf('value'), HOUR_MS)).rejects.toThrow(unusable);

    await rm(obstacle);
    await expect(store.get('key')).rejects.toThrow(unusable);
    clock.advance(2_000);
    await store.set('key', entryOf('value'), HOUR_MS);
    expect(await store.get('key')).toEqual(entryOf('value'));
  });
});

describe('the size of cache.db', () => {
  it('stays within its limit, and the entries that expire next are removed first', async () => {
    const maxBytes = MEBIBYTE;
    const { path, open } = await setUp({ maxBytes });
    const store = open();
    const value = 'x'.repeat(10_000);
    await store.set('lives longest', entryOf(value), 1_000 * HOUR_MS);
    for (let n = 0; n < 500; n += 1) await store.set(`key ${n}`, entryOf(value), HOUR_MS + n);
    expect((await stat(path)).size).toBeLessThan(maxBytes * 1.2);
    expect(await store.get('lives longest')).toBeDefined();
    expect(await store.get('key 499')).toBeDefined();
    expect(await store.get('key 0')).toBeUndefined();
  });

  it('does not grow with expired entries', async () => {
    const { path, clock, open } = await setUp();
    const store = open();
    for (let n = 0; n < 1_000; n += 1) {
      await store.set(`key ${n}`, entryOf('x'.repeat(1_000)), 100);
      clock.advance(1);
    }
    await store.close();
    const rows = countRows(path);
    expect(rows).toBeGreaterThanOrEqual(100);
    expect(rows).toBeLessThan(200);
  });
});

describe('two stores on one cache.db', () => {
  it('see each other’s entries and may write at the same time', async () => {
    const { open } = await setUp();
    const [left, right] = [open(), open()];
    await Promise.all(
      [left, right].flatMap((store, side) =>
        Array.from({ length: 200 }, (_, n) => store.set(`${side} ${n}`, entryOf(`${side} ${n}`), HOUR_MS)),
      ),
    );
    for (let n = 0; n < 200; n += 1) {
      expect(await left.get(`1 ${n}`)).toEqual(entryOf(`1 ${n}`));
      expect(await right.get(`0 ${n}`)).toEqual(entryOf(`0 ${n}`));
    }
  });

  it('continue together after one of them has created the file again', async () => {
    const { path, clock, open } = await setUp();
    const [left, right] = [open(), open()];
    await left.set('key', entryOf('value'), HOUR_MS);
    await right.get('key');
    await truncate(path, 100);
    clock.advance(1_000);
    await left.set('new', entryOf('value'), HOUR_MS);
    expect(await right.get('new')).toEqual(entryOf('value'));
    await left.close();
    await right.set('newer', entryOf('value'), HOUR_MS);
    await right.close();
    expect(await open().get('newer')).toEqual(entryOf('value'));
  });
});

it('an erasure that cannot be written fails, and removes nothing', async () => {
  const { path, open } = await setUp();
  const store = open();
  const key = 'channel1:UCgone_________________A';
  await store.set(key, entryOf('{}'), HOUR_MS);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const removal = { channelIds: ['UCgone_________________A'], names: [] };
  await expect(store.erase(removal)).rejects.toThrow('locked');
  expect(await store.get(key)).toEqual(entryOf('{}'));
  other.exec('ROLLBACK');
  other.close();
  expect(await store.erase(removal)).toEqual({ channel: 1 });
});

describe('the SQLite store’s thread', () => {
  it('returns the calls that were made before the store was closed, and refuses later ones', async () => {
    const { open } = await setUp();
    const store = open();
    const setting = store.set('key', entryOf('value'), HOUR_MS);
    const getting = store.get('key');
    await store.close();
    await setting;
    expect(await getting).toEqual(entryOf('value'));
    await expect(store.get('key')).rejects.toThrow('closed');
  });

  it('does not block the event loop', async () => {
    const { open } = await setUp();
    const store = open();
    await store.get('warm');
    const value = 'x'.repeat(20_000);
    const work = Promise.all(Array.from({ length: 500 }, (_, n) => store.set(`key ${n}`, entryOf(value), HOUR_MS)));
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    let turns = 0;
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    // On this thread, everything would be done after a turn or two.
    expect(turns).toBeGreaterThan(20);
  });
});

/** Is in every part of the text, so that a remaining piece of it is noticed. */
const SECRET = 'private words';
const TEXT = `${SECRET} `.repeat(300);

/** The size of all files together: the database, its log and the log's index. */
async function bytesIn(directory: string): Promise<string> {
  const names = await readdir(directory);
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'latin1')))).join('');
}

function changeDatabase(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

function countRows(path: string): number {
  const db = new DatabaseSync(path);
  const row = db.prepare('SELECT count(*) AS count FROM entries').get();
  db.close();
  return Number(row?.count);
}
