import { existsSync } from 'node:fs';
import { copyFile, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { openTestCatalog } from '../../../test/helpers/open-catalog.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { catalogPaths } from './schema.ts';

const UNAVAILABLE = { code: 'upstream_unavailable', retryAfterMs: 3_000 };
const RETRY_MS = 3_000;

describe('a catalog that cannot be read', () => {
  it('fails for some seconds if its disk does not respond, and works again when it does', async () => {
    const dataDir = await createTemporaryDirectory();
    await importLines(dataDir, [catalogLine(1)]);
    const { titleOf, titlesFound, states, clock } = openTestCatalog(dataDir);
    await titlesFound('open');
    const late = titleOf(1);
    // Before the thread can respond.
    clock.advance(2_000);
    await expect(late).rejects.toMatchObject(UNAVAILABLE);
    await expect(titlesFound('query'), 'no other call waits').rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringContaining('its disk does not respond')]);
    clock.advance(RETRY_MS);
    expect(await titleOf(1)).toBe('Channel 1');
    expect(states.at(-1)).toBeNull();
  });

  it.each([
    ['before the start', false],
    ['while it was open', true],
  ])('reports a file that was emptied %s, leaves it so, and sees the next import', async (_when, wasOpen) => {
    const dataDir = await createTemporaryDirectory();
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    if (!wasOpen) await truncate(database);
    const { titleOf, states, clock, seeChange } = openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR);
    if (wasOpen) {
      expect(await titleOf(1)).toBe('Channel 1');
      await truncate(database);
      seeChange();
    }
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringMatching(/catalog\.db is empty: import your backup/)]);
    expect((await stat(database)).size).toBe(0);

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

    const { titleOf, states, clock } = openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringMatching(/catalog\.db is damaged .*move it away and import your backup/)]);
    await expect(titleOf(1)).rejects.toMatchObject({ cause: { message: states[0] } });

    await rename(database, join(dataDir, 'damaged.db'));
    expect(await readFile(join(dataDir, 'damaged.db'), 'utf8')).toBe(damaged);
    await rename(backup, database);
    await expect(titleOf(1), 'it is not opened again at once').rejects.toMatchObject(UNAVAILABLE);
    clock.advance(RETRY_MS);
    expect(await titleOf(1)).toBe('Channel 1');
    expect(states.at(-1)).toBeNull();
  });

  it('refuses a database of another program', async () => {
    const dataDir = await createTemporaryDirectory();
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    db.exec('CREATE TABLE bookmarks (url)');
    const { titleOf, states } = openTestCatalog(dataDir);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringMatching(/catalog\.db is no catalog of this version/)]);
    db.close();
  });

  it('does not create a missing catalog again, and reads one that returns', async () => {
    const dataDir = await createTemporaryDirectory();
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    const { titleOf, clock, seeChange } = openTestCatalog(dataDir, SHIPPED_SAMPLES_DIR);
    expect(await titleOf(1)).toBe('Channel 1');
    await rename(database, `${database}.away`);
    seeChange();
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
    const { titleOf, seeChange } = openTestCatalog(dataDir);
    expect(await titleOf(1)).toBe('This');
    await rename(catalogPaths(otherDir).database, catalogPaths(dataDir).database);
    seeChange();
    expect(await titleOf(1)).toBe('That');
  });

  it('reports which folder cannot be written', async () => {
    const dataDir = join(await createTemporaryDirectory(), 'file');
    await writeFile(dataDir, '');
    const { titleOf, states } = openTestCatalog(dataDir);
    await expect(titleOf(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(states).toEqual([expect.stringContaining('catalog.db')]);
  });
});
