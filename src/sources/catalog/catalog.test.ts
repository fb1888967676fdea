import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { clientOf } from '../../../test/helpers/clients.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { openTestCatalog, PATIENT } from '../../../test/helpers/open-catalog.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { type ChannelRef, channelIdRef, findHandle, findUsername } from '../../domain/identifier.ts';
import { createEpochs } from '../../lib/epoch.ts';
import { withRequest } from '../../lib/work.ts';
import { SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { LOOK_INTERVAL_MS } from './changes.ts';
import { catalogPaths } from './schema.ts';

/** A catalog without channels. It is open already, because opening counts as a call. */
async function openEmpty() {
  const opened = openTestCatalog(await createTemporaryDirectory());
  const search = (query: string, signal = PATIENT) => opened.catalog.search(query, 20, signal);
  await search('query');
  return { ...opened, search };
}

describe('the catalog', () => {
  it('refuses searches beyond its bound', async () => {
    const { catalog, search } = await openEmpty();
    const questions = Array.from({ length: 701 }, (_, number) => search(`query ${number}`));
    expect(catalog.holders['waiting catalog searches']?.()).toEqual({ entries: 500, maxEntries: 500 });
    const outcomes = await Promise.allSettled(questions);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(200);
    expect(refused[0]).toMatchObject({ reason: { code: 'upstream_unavailable', retryAfterMs: 1_000 } });
    expect(catalog.holders['waiting catalog searches']?.().entries).toBe(0);
    await expect(search('query')).resolves.toEqual([]);
  });

  it('looks channels up, and searches for other clients, before the searches of a client that has many', async () => {
    const { catalog, search } = await openEmpty();
    const ended: string[] = [];
    const asked = (client: string, name: string, work: () => Promise<unknown>) =>
      withRequest({ requestId: name, client: clientOf(client), epoch: createEpochs().current() }, work).finally(() =>
        ended.push(name),
      );
    const many = Array.from({ length: 20 }, (_, number) => asked('many', `many ${number}`, () => search(`${number}`)));
    const lookUp = asked('many', 'look-up', () => catalog.find(channelIdRef(numberedChannelId(1))));
    const one = asked('one', 'one', () => search('one'));
    await Promise.allSettled([...many, lookUp, one]);
    expect(ended.slice(0, 3).sort()).toEqual(['look-up', 'many 0', 'one']);
  });

  it('does not begin a search whose deadline has passed', async () => {
    const { catalog, search } = await openEmpty();
    const first = search('first');
    const late = new AbortController();
    const second = search('second', late.signal);
    expect(catalog.holders['waiting catalog searches']?.().entries).toBe(1);
    late.abort();
    expect(catalog.holders['waiting catalog searches']?.().entries).toBe(0);
    await expect(second).rejects.toMatchObject({ code: 'upstream_timeout' });
    await expect(first).resolves.toEqual([]);
  });

  it('removes the draft of a process that was killed while it created the catalog, but none that may be in use', async () => {
    const dataDir = await createTemporaryDirectory();
    const [old, recent] = [join(dataDir, 'catalog.new-old'), join(dataDir, 'catalog.new-recent')];
    for (const draft of [old, recent]) await mkdir(draft);
    await writeFile(join(old, 'catalog.db'), 'half');
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(old, hourAgo, hourAgo);
    await openTestCatalog(dataDir).titlesFound('anything');
    expect((await readdir(dataDir)).filter((name) => name.startsWith('catalog.new-'))).toEqual(['catalog.new-recent']);
  });

  it('creates the catalog with the samples, and does not add them again after they were removed', async () => {
    const dataDir = await createTemporaryDirectory();
    const first = openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR);
    expect(await first.titlesFound('pennant')).toContain('Pennant Sample');
    await first.close();
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    db.exec('DELETE FROM channel_text; DELETE FROM channels');
    db.close();
    expect(await openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR).titlesFound('pennant')).toEqual([]);
  });

  it('creates an empty catalog without samples, and leaves no draft', async () => {
    const dataDir = join(await createTemporaryDirectory(), 'new', 'folder');
    const { titlesFound } = openTestCatalog(dataDir);
    expect(await titlesFound('a')).toEqual([]);
    expect((await readdir(dataDir)).filter((name) => !/^catalog\.db(?:-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it('creates the catalog once when two servers start at once', async () => {
    const dataDir = await createTemporaryDirectory();
    const both = [openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR), openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR)];
    for (const { titlesFound, states } of both) {
      expect(await titlesFound('pennant sample')).toEqual(['Pennant Sample']);
      expect(states).toEqual([]);
    }
  });

  it('finds channels by ID, and by handle and user name in any letter case', async () => {
    const { catalog, importChannels } = openTestCatalog(await createTemporaryDirectory());
    await importChannels(catalogLine(1, { customUrl: '@Höhe', username: 'OldName' }));
    const refs = [channelIdRef(numberedChannelId(1)), findHandle('HÖHE'), findHandle('@höhe'), findUsername('oldname')];
    for (const ref of refs) expect((await catalog.find(ref as ChannelRef))?.channelId).toBe(numberedChannelId(1));
    expect(await catalog.find(findUsername('höhe') ?? channelIdRef(numberedChannelId(2)))).toBeUndefined();
  });

  it('sees what another process imports, replaces and removes while it runs', async () => {
    const { importChannels, titleOf, titlesFound } = openTestCatalog(await createTemporaryDirectory());
    expect([await titleOf(1), await titlesFound('before')]).toEqual([undefined, []]);
    await importChannels(catalogLine(1, { title: 'Before' }));
    expect([await titleOf(1), await titlesFound('before')]).toEqual(['Before', ['Before']]);
    await importChannels(catalogLine(1, { title: 'After' }));
    expect([await titleOf(1), await titlesFound('after'), await titlesFound('before')]).toEqual([
      'After',
      ['After'],
      [],
    ]);
  });

  it('has another version after each change, and reads nothing twice in between', async () => {
    const { catalog, importChannels, titleOf, titlesFound, entries, seeChange } = openTestCatalog(
      await createTemporaryDirectory(),
    );
    await importChannels(catalogLine(1));
    const channel = await catalog.find(channelIdRef(numberedChannelId(1)));
    const before = catalog.version();
    await titlesFound('channel');
    await titleOf(2);
    seeChange();
    expect(catalog.version()).toBe(before);
    expect(await catalog.find(channelIdRef(numberedChannelId(1))), 'the same object').toBe(channel);
    expect(entries()).toBe(3);
    // As in a nightly import of the same file.
    await importChannels(catalogLine(1));
    await importChannels(catalogLine(1, { title: 'Changed' }));
    expect(catalog.version()).toBeGreaterThan(before);
    expect(entries()).toBe(0);
  });

  it('looks at its file ten times a second at most', async () => {
    const dataDir = await createTemporaryDirectory();
    const { titleOf, clock } = openTestCatalog(dataDir);
    expect(await titleOf(1)).toBeUndefined();
    await importLines(dataDir, [catalogLine(1)]);
    clock.advance(LOOK_INTERVAL_MS - 1);
    expect(await titleOf(1)).toBeUndefined();
    clock.advance(1);
    expect(await titleOf(1)).toBe('Channel 1');
  });

  it('reads a row again on request, whatever it has seen', async () => {
    const dataDir = await createTemporaryDirectory();
    const { catalog, titleOf } = openTestCatalog(dataDir);
    expect(await titleOf(1)).toBeUndefined();
    await importLines(dataDir, [catalogLine(1)]);
    expect((await catalog.findAnew(channelIdRef(numberedChannelId(1))))?.title).toBe('Channel 1');
  });

  it('does not block the event loop while it searches', async () => {
    const dataDir = await createTemporaryDirectory();
    const opened = openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR);
    await opened.titlesFound('a');
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await Promise.all(Array.from({ length: 200 }, (_, number) => opened.titlesFound(`sample ${number}`)));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });
});
