import { existsSync } from 'node:fs';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { catalogLine, importLines, pngOf, writeImages } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { runInProcess } from '../../../test/helpers/run-command.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { catalogCommands } from '../catalog.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
  const images = await writeImages(dataDir, { 'one.png': pngOf('one'), 'two.png': pngOf('two') });
  const lines = [catalogLine(1, { avatarFile: 'one.png' }), catalogLine(2, { avatarFile: 'two.png' })];
  expect((await importLines(dataDir, lines, images)).refusals).toEqual([]);
});

async function run(...args: string[]) {
  const { exitCode, stdout, stderr } = await runInProcess(catalogCommands, args, { env: { DATA_DIR: dataDir } });
  return { exitCode, lines: stdout.split('\n').filter((line) => line !== ''), errors: stderr };
}

async function storedImages(): Promise<string[]> {
  return (await readdir(catalogPaths(dataDir).images)).sort();
}

describe('catalog export --images', () => {
  it('copies no file from outside of the catalog’s folder, whatever the database contains', async () => {
    await writeFile(join(dataDir, 'secret'), 'secret');
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    db.prepare('UPDATE channels SET avatar_file = ? WHERE channel_id = ?').run('../secret', numberedChannelId(1));
    db.close();
    const folder = join(dataDir, 'exported', 'images');
    const { exitCode, lines, errors } = await run('export', '--images', folder);
    expect([exitCode, lines.length]).toEqual([1, 2]);
    expect(errors).toBe(`${numberedChannelId(1)}: "../secret" is not a valid image name\n`);
    expect(await readdir(folder)).toHaveLength(1);
    expect(existsSync(join(dataDir, 'exported', 'secret'))).toBe(false);
  });

  it('follows no link out of the catalog’s folder', async () => {
    const [name = ''] = await storedImages();
    const image = join(catalogPaths(dataDir).images, name);
    await rm(image);
    await symlink('/etc/hostname', image);
    const folder = join(dataDir, 'exported');
    const { exitCode, errors } = await run('export', '--images', folder);
    expect(exitCode).toBe(1);
    expect(errors).toContain(`the image ${image} is missing`);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('keeps the good image of an earlier export if the catalog’s is damaged, from which it can be restored', async () => {
    const folder = join(dataDir, 'exported');
    const { lines } = await run('export', '--images', folder);
    const [name = ''] = await storedImages();
    const image = join(catalogPaths(dataDir).images, name);
    const good = await readFile(image);
    // The same length and kind of file.
    await writeFile(image, Buffer.from(good).fill('x', good.length - 1));

    const { exitCode, errors } = await run('export', '--images', folder);
    expect([exitCode, errors]).toEqual([1, expect.stringMatching(`: the image ${image} is damaged\n$`)]);
    expect(await readFile(join(folder, name))).toEqual(good);
    expect((await importLines(dataDir, lines, folder)).refusals).toEqual([]);
    expect(await readFile(image)).toEqual(good);
  });

  it('lists images in the folder that are no longer in the catalog, and keeps them', async () => {
    const folder = join(dataDir, 'exported');
    expect(await run('export', '--images', folder)).toMatchObject({ exitCode: 0, errors: '' });
    await writeFile(join(folder, 'my own.txt'), 'mine');
    const before = await readdir(folder);
    expect(await run('remove', numberedChannelId(1))).toMatchObject({ exitCode: 0 });

    const { exitCode, lines, errors } = await run('export', '--images', folder);
    expect([exitCode, lines.length]).toEqual([0, 1]);
    const left = await storedImages();
    const [removed = ''] = before.filter((name) => name.endsWith('.png') && !left.includes(name));
    expect(errors).toBe(`${join(folder, removed)} is not in the catalog\n`);
    expect(await readdir(folder)).toEqual(before);
  });

  it.skipIf(!existsSync('/proc/self'))('fails if the folder cannot be created', async () => {
    const { exitCode, lines, errors } = await run('export', '--images', '/proc/pennant/images');
    expect([exitCode, lines]).toEqual([1, []]);
    expect(errors).toMatch(/^ENOENT: [^\n]*\n$/);
  });
});
