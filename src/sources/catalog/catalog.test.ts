import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeSourceContract } from '../../../test/contracts/source.ts';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { createEpochs } from '../../lib/epoch.ts';
import { withRequest } from '../../lib/work.ts';
import { createCatalogSource, SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { catalogPaths } from './schema.ts';

const SAMPLE_ID = 'UCPennantSample00000001A';

describeSourceContract('catalog', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-contract-'));
  return {
    source: createCatalogSource({ dataDir, samplesDir: SHIPPED_SAMPLES_DIR }),
    known: { channelId: SAMPLE_ID, title: 'Pennant Sample', handle: 'pennantsample' },
    knownUsername: 'pennantsample',
    unknown: { channelId: numberedChannelId(0), handle: 'nobodyhere', username: 'nobodyhere' },
    queryWithHits: 'sample',
    queryWithoutHits: 'zzzzzz',
    breakUpstream: () => writeFile(catalogPaths(dataDir).database, 'damaged '.repeat(1_000)),
    tearDown: () => rm(dataDir, { recursive: true }),
  };
});

function createSource(dataDir: string, samplesDir: string | null = null) {
  const clock = createManualClock();
  const states: (string | null)[] = [];
  const source = createCatalogSource({ dataDir, samplesDir, clock, onStateChange: (problem) => states.push(problem) });
  onTestFinished(() => source.close());
  const signal = AbortSignal.timeout(20_000);
  return {
    clock,
    states,
    titleOf: async (number: number) => (await source.getChannel(numberedChannelId(number), { signal })).channel.title,
    titlesFound: async (query: string) => (await source.search(query, 20, { signal })).hits.map(({ title }) => title),
    close: () => source.close(),
  };
}

const PATIENT = new AbortController().signal;

/** A catalog without channels. It is open already, which is a call of its own. */
async function openEmpty() {
  const source = createCatalogSource({ dataDir: await createTemporaryDirectory(), samplesDir: null });
  onTestFinished(() => source.close());
  const search = (query: string, signal = PATIENT) => source.search(query, 20, { signal });
  await search('query');
  return { source, search };
}

const NOT_FOUND = { code: 'channel_not_found' };
const UNAVAILABLE = { code: 'upstream_unavailable', retryAfterMs: 3_000 };
const RETRY_MS = 3_000;

describe('the catalog source', () => {
  it('refuses searches beyond its bound', async () => {
    const { source, search } = await openEmpty();
    const questions = Array.from({ length: 701 }, (_, number) => search(`query ${number}`));
    expect(source.holders?.['waiting catalog searches']?.()).toEqual({ entries: 500, maxEntries: 500 });
    const outcomes = await Promise.allSettled(questions);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(200);
    expect(refused[0]).toMatchObject({ reason: { code: 'upstream_unavailable', retryAfterMs: 1_000 } });
    expect(source.holders?.['waiting catalog searches']?.().entries).toBe(0);
    await expect(search('query')).resolves.toEqual({ hits: [] });
  });

  it('looks channels up, and searches for other clients, before the searches of a client that has many', async () => {
    const { source, search } = await openEmpty();
    const ended: string[] = [];
    const asked = (client: string, name: string, work: () => Promise<unknown>) =>
      withRequest({ requestId: name, client, epoch: createEpochs().current() }, work).finally(() => ended.push(name));
    const many = Array.from({ length: 20 }, (_, number) => asked('many', `many ${number}`, () => search(`${number}`)));
    const lookUp = asked('many', 'look-up', () => source.getChannel(numberedChannelId(1), { signal: PATIENT }));
    const one = asked('one', 'one', () => search('one'));
    await Promise.allSettled([...many, lookUp, one]);
    expect(ended.slice(0, 3).sort()).toEqual(['look-up', 'many 0', 'one']);
  });

  it('does not begin a search whose deadline has passed', async () => {
    const { source, search } = await openEmpty();
    const first = search('first');
    const late = new AbortController();
    const second = search('second', late.signal);
    expect(source.holders?.['waiting catalog searches']?.().entries).toBe(1);
    late.abort();
    expect(source.holders?.['waiting catalog searches']?.().entries).toBe(0);
    await expect(second).rejects.toMatchObject({ code: 'upstream_timeout' });
    await expect(first).resolves.toEqual({ hits: [] });
  });

  it('removes the draft of a process that was killed while it created the catalog, but none that may be in use', async () => {
    const dataDir = await createTemporaryDirectory();
    const [old, recent] = [join(dataDir, 'catalog.new-old'), join(dataDir, 'catalog.new-recent')];
    for (const draft of [old, recent]) await mkdir(draft);
    await writeFile(join(old, 'catalog.db'), 'half');
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(old, hourAgo, hourAgo);
    const source = createSource(dataDir);
    await source.titlesFound('anything');
    expect((await readdir(dataDir)).filter((name) => name.startsWith('catalog.new-'))).toEqual(['catalog.new-recent']);
  });

  it('creates the catalog with the samples, and does not add them again after they were removed', async () => {
    const dataDir = await createTemporaryDirectory();
    const first = createSource(dataDir, SHIPPED_SAMPLES_DIR);
    expect(await first.titlesFound('pennant')).toContain('Pennant Sample');
    await first.close();
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    db.exec('DELETE FROM channel_text; DELETE FROM channels');
    db.close();
    expect(await createSource(dataDir, SHIPPED_SAMPLES_DIR).titlesFound('pennant')).toEqual([]);
  });

  it('creates an empty catalog without samples, and leaves no draft', async () => {
    const dataDir = join(await createTemporaryDirectory(), 'new', 'folder');
    const { titlesFound } = createSource(dataDir);
    expect(await titlesFound('a')).toEqual([]);
    expect((await readdir(dataDir)).filter((name) => !/^catalog\.db(?:-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it('creates the catalog once when two servers start at once', async () => {
    const dataDir = await createTemporaryDirectory();
    const both = [createSource(dataDir, SHIPPED_SAMPLES_DIR), createSource(dataDir, SHIPPED_SAMPLES_DIR)];
    for (const { titlesFound, states } of both) {
      expect(await titlesFound('pennant sample')).toEqual(['Pennant Sample']);
      expect(states).toEqual([]);
    }
  });

  it('sees what another process imports, replaces and removes while it runs', async () => {
    const dataDir = await createTemporaryDirectory();
    const { titleOf, titlesFound } = createSource(dataDir);
    await expect(titleOf(1)).rejects.toMatchObject(NOT_FOUND);
    await importLines(dataDir, [catalogLine(1, { title: 'Before' })]);
    expect(await titleOf(1)).toBe('Before');
    await importLines(dataDir, [catalogLine(1, { title: 'After' })]);
    expect(await titlesFound('after')).toEqual(['After']);
    expect(await titlesFound('before')).toEqual([]);
  });

  it.each([
    ['before the start', false],
    ['while it was open', true],
  ])('reports a file that was emptied %s, leaves it so, and sees the next import', async (_when, wasOpen) => {
    const dataDir = await createTemporaryDirectory();
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    const { titleOf, states, clock } = createSource(dataDir, SHIPPED_SAMPLES_DIR);
    if (wasOpen) expect(await titleOf(1)).toBe('Channel 1');
    await truncate(database);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringMatching(/catalog\.db is empty: put a backup in its place/)]);
    expect((await stat(database)).size).toBe(0);

    await rm(`${database}-wal`, { force: true });
    await importLines(dataDir, [catalogLine(2)]);
    clock.advance(RETRY_MS);
    expect(await titleOf(2)).toBe('Channel 2');
    expect(states.at(-1)).toBeNull();
  });

  it('reports a damaged file, leaves it unchanged, and recovers when it is repaired', async () => {
    const dataDir = await createTemporaryDirectory();
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    const backup = join(dataDir, 'backup.db');
    await copyFile(database, backup);
    const damaged = 'no database at all\n'.repeat(500);
    await writeFile(database, damaged);

    const { titleOf, states, clock } = createSource(dataDir, SHIPPED_SAMPLES_DIR);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringMatching(/catalog\.db is damaged .*put a backup in its place/)]);
    await expect(titleOf(1)).rejects.toMatchObject({ cause: { message: states[0] } });

    await rename(database, join(dataDir, 'damaged.db'));
    expect(await readFile(join(dataDir, 'damaged.db'), 'utf8')).toBe(damaged);
    await rename(backup, database);
    await expect(titleOf(1), 'it is not opened again at once').rejects.toMatchObject(UNAVAILABLE);
    clock.advance(RETRY_MS);
    expect(await titleOf(1)).toBe('Channel 1');
    expect(states.at(-1)).toBeNull();
  });

  it('refuses the catalog of another version, and a database of something else', async () => {
    const dataDir = await createTemporaryDirectory();
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    db.exec('PRAGMA user_version = 99');
    const other = createSource(dataDir);
    await expect(other.titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(other.states).toEqual([
      expect.stringMatching(/catalog\.db was written by another version of Pennant \(schema 99,/),
    ]);
    db.exec('PRAGMA user_version = 0; CREATE TABLE bookmarks (url)');
    const foreign = createSource(dataDir);
    await expect(foreign.titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(foreign.states).toEqual([expect.stringMatching(/catalog\.db is a database of something else/)]);
    db.close();
  });

  it('does not create a missing catalog again, and reads one that returns', async () => {
    const dataDir = await createTemporaryDirectory();
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    const { titleOf, clock } = createSource(dataDir, SHIPPED_SAMPLES_DIR);
    expect(await titleOf(1)).toBe('Channel 1');
    await rename(database, `${database}.away`);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    clock.advance(RETRY_MS);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(existsSync(database)).toBe(false);
    await rename(`${database}.away`, database);
    clock.advance(RETRY_MS);
    expect(await titleOf(1)).toBe('Channel 1');
  });

  it('reads a file that replaces the catalog', async () => {
    const dataDir = await createTemporaryDirectory();
    const otherDir = await createTemporaryDirectory();
    await importLines(dataDir, [catalogLine(1, { title: 'This' })]);
    await importLines(otherDir, [catalogLine(1, { title: 'That' })]);
    const { titleOf } = createSource(dataDir);
    expect(await titleOf(1)).toBe('This');
    await rename(catalogPaths(otherDir).database, catalogPaths(dataDir).database);
    expect(await titleOf(1)).toBe('That');
  });

  it('reports which folder cannot be written', async () => {
    const dataDir = join(await createTemporaryDirectory(), 'file');
    await writeFile(dataDir, '');
    const { titleOf, states } = createSource(dataDir);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringContaining('catalog.db')]);
  });

  it('does not block the event loop while it searches', async () => {
    const dataDir = await createTemporaryDirectory();
    const source = createSource(dataDir, SHIPPED_SAMPLES_DIR);
    await source.titlesFound('a');
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await Promise.all(Array.from({ length: 200 }, () => source.titlesFound('sample')));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });
});
