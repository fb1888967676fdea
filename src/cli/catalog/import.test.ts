import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogLine, unread, writeImages } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { runInProcess } from '../../../test/helpers/run-command.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { catalogCommands } from '../catalog.ts';

const PNG = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  .png()
  .toBuffer();

let directory: string;
let dataDir: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  dataDir = join(directory, 'data');
});

function runCatalog(DATA_DIR: string, args: readonly string[], { stdin = '' } = {}) {
  return runInProcess(catalogCommands, args, { env: { DATA_DIR }, stdin: () => Readable.from([Buffer.from(stdin)]) });
}

async function titles(): Promise<string[]> {
  const { stdout } = await runCatalog(dataDir, ['list', '--json']);
  return (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title).sort();
}

describe('catalog import', () => {
  it('reads standard input for "-"', async () => {
    const stdin = [catalogLine(1), '{', catalogLine(2)].join('\n');
    expect(await runCatalog(dataDir, ['import', '-'], { stdin })).toEqual({
      exitCode: 1,
      stdout: 'Channels added: 2, replaced: 0. Lines refused: 1.\n',
      stderr: expect.stringMatching(/^line 2: not JSON/),
    });
    expect(await titles()).toEqual(['Channel 1', 'Channel 2']);
  });

  it('says once how to convert a file that has not one record per line', async () => {
    const stdin = JSON.stringify([JSON.parse(catalogLine(1))], null, 2);
    const { exitCode, stdout, stderr } = await runCatalog(dataDir, ['import', '-'], { stdin });
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^[^\n]*The file is a JSON array\. [^\n]*jq -c '\.\[\]'\n$/);
    expect((await runCatalog(dataDir, ['import', '-'], { stdin: '' })).stderr).toContain('The file is empty.');
  });

  it('mentions --images when the catalog does not have an image', async () => {
    const images = await writeImages(directory, { 'one.png': PNG });
    const stdin = catalogLine(1, { avatarFile: 'one.png' });
    const refused = await runCatalog(dataDir, ['import', '-'], { stdin });
    const folder = catalogPaths(dataDir).images;
    expect(refused).toEqual({
      exitCode: 1,
      stdout: 'Channels added: 0, replaced: 0. Lines refused: 1.\n',
      stderr:
        `line 1: avatarFile: there is no image ${join(folder, 'one.png')}\n` +
        `Images were searched for in ${folder}. Name another folder with --images DIR.\n${unread(dataDir)}`,
    });
    expect((await runCatalog(dataDir, ['import', '-', '--images', images], { stdin })).exitCode).toBe(0);
    const missing = await runCatalog(dataDir, ['import', '-', '--images', images], {
      stdin: catalogLine(2, { avatarFile: 'two.png' }),
    });
    expect(missing.stderr).toBe(`line 1: avatarFile: there is no image ${join(images, 'two.png')}\n${unread(dataDir)}`);
  });
});

describe('catalog import --dry-run', () => {
  it('reports what an import would do, and changes nothing', async () => {
    const images = await writeImages(directory, { 'one.png': PNG, 'no image.txt': Buffer.from('text') });
    const first = [catalogLine(1, { customUrl: '@one' })].join('\n');
    expect((await runCatalog(dataDir, ['import', '-'], { stdin: first })).exitCode).toBe(0);
    const { database, images: stored } = catalogPaths(dataDir);
    const before = await readFile(database);
    const stdin = [
      catalogLine(1, { title: 'Replaced' }),
      catalogLine(2, { avatarFile: 'one.png' }),
      catalogLine(3, { avatarFile: 'no image.txt' }),
      catalogLine(4, { customUrl: '@two' }),
      catalogLine(5, { customUrl: '@Two' }),
    ].join('\n');
    const args = ['import', '-', '--images', images];
    const tried = await runCatalog(dataDir, [...args, '--dry-run'], { stdin });
    expect(tried).toEqual({
      exitCode: 1,
      stdout: 'Channels that would be added: 3, replaced: 1. Lines refused: 1. Nothing was changed.\n',
      stderr:
        'line 3: avatarFile: no image.txt is not a JPEG, PNG, WebP, AVIF or GIF image\n' +
        `line 5: warning: customUrl: @Two leads to the channel ${numberedChannelId(4)}, and is not stored for ${numberedChannelId(5)}\n`,
    });
    expect(await readFile(database)).toEqual(before);
    expect(existsSync(stored)).toBe(false);
    expect(await titles()).toEqual(['Channel 1']);
    const real = await runCatalog(dataDir, args, { stdin });
    expect([real.exitCode, real.stderr]).toEqual([tried.exitCode, tried.stderr + unread(dataDir)]);
    expect(real.stdout).toBe('Channels added: 3, replaced: 1. Lines refused: 1.\n');
  });

  it('creates no catalog, and reports a damaged one with its file name', async () => {
    const args = ['import', '-', '--dry-run'];
    expect((await runCatalog(dataDir, args, { stdin: catalogLine(1) })).exitCode).toBe(0);
    expect(await readdir(directory)).toEqual([]);
    const { database } = catalogPaths(directory);
    await writeFile(database, 'damaged '.repeat(1_000));
    const { exitCode, stdout, stderr } = await runCatalog(directory, args, { stdin: catalogLine(1) });
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${database} is damaged`);
  });

  it('names the temporary folder if its disk is full', async (context) => {
    const temporary = join(directory, 'temporary');
    await mkdir(temporary);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'none', temporary]);
    if (mounted.status !== 0) return context.skip('only an administrator can mount a small disk');
    onTestFinished(() => void spawnSync('umount', [temporary]));
    expect((await runCatalog(dataDir, ['import', '-'], { stdin: catalogLine(1) })).exitCode).toBe(0);
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stderr } = await runCatalog(dataDir, ['import', '-', '--dry-run'], { stdin: catalogLine(2) });
    expect([exitCode, stderr.slice(0, temporary.length + 1)]).toEqual([1, `${temporary}/`]);
    expect(stderr).toContain('check that its disk has room');
  });
});

describe('catalog list --json', () => {
  it('writes an array of IDs, handles and titles', async () => {
    const stdin = [
      catalogLine(1, { customUrl: '@one', subscriberCount: '2' }),
      catalogLine(2, { subscriberCount: '1' }),
    ].join('\n');
    expect((await runCatalog(dataDir, ['import', '-'], { stdin })).exitCode).toBe(0);
    const { stdout } = await runCatalog(dataDir, ['list', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      { channelId: numberedChannelId(1), customUrl: '@one', title: 'Channel 1' },
      { channelId: numberedChannelId(2), customUrl: null, title: 'Channel 2' },
    ]);
  });

  it('writes an empty array when there are no channels', async () => {
    await runCatalog(dataDir, ['import', '-']);
    expect((await runCatalog(dataDir, ['list', '--json'])).stdout).toBe('[\n]\n');
  });
});
