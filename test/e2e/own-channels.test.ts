import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

/* The operator's own channels: a folder of files, which changes while it is served. */

let dataDir: string;
let folder: string;
let channels: string;
let service: TestApp;
beforeEach(async () => {
  dataDir = await createDataDir();
  [folder, channels] = [join(dataDir, 'catalog'), join(dataDir, 'catalog', 'channels.ndjson')];
  await writeCatalog(dataDir, [catalogLine(1)]);
  service = await startWithoutEncoder({ dataDir });
});

async function title() {
  return (await service.get(`/channel/${numberedChannelId(1)}`)).json<{ title: string }>().title;
}

async function conditions() {
  return (await service.readiness()).conditions.map(({ name, detail }) => `${name}: ${detail}`);
}

/** Expects a condition, while the last good state is served; and the mended state after `mend`. */
async function expectCondition(detail: RegExp, mend: () => Promise<unknown>): Promise<void> {
  service.clock.advance(1_000);
  await expect.poll(conditions).toEqual([expect.stringMatching(detail)]);
  expect(await title()).toBe('Channel 1');
  await mend();
  await expect
    .poll(async () => {
      service.clock.advance(1_000);
      return conditions();
    })
    .toEqual([]);
}

const mend = () => writeCatalog(dataDir, [catalogLine(1, { title: 'Mended' })]);

test('a change is in the next response, although equal requests of one second get one response', async () => {
  service.clock.advance(999);
  expect(await title()).toBe('Channel 1');
  await writeCatalog(dataDir, [catalogLine(1, { title: 'New' })]);
  expect(await title()).toBe('Channel 1');
  service.clock.advance(1);
  await expect.poll(title).toBe('New');
});

test('a mistake is a condition with its line, and the last good state is served', async () => {
  await writeCatalog(dataDir, [catalogLine(1, { title: 'Next' }), '', catalogLine(2, { country: 'nl' })]);
  await expectCondition(/^catalog: \S+channels\.ndjson, line 3: country: must be/, mend);
  expect(await title()).toBe('Mended');
});

test('a folder that disappears is a condition, and the last good state is served', async () => {
  const away = join(dataDir, 'away');
  await rename(folder, away);
  await expectCondition(/channels\.ndjson cannot be read \(ENOENT/, () => rename(away, folder));
});

const isWindows = process.platform === 'win32';

test.each<[string, (image: string) => Promise<unknown>]>([
  ['is not there', async () => undefined],
  ['is a folder', (image) => mkdir(image)],
  ['links out of the folder', (image) => symlink(dataDir, image)],
  ['links to nothing', (image) => symlink('nothing.jpg', image)],
])('an image that %s is a mistake of the line that names it, until it is there', async (_what, make) => {
  const images = join(folder, 'images');
  await mkdir(images, { recursive: true });
  await make(join(images, 'baner.jpg'));
  await writeCatalog(dataDir, [catalogLine(1, { title: 'Next', bannerFile: 'baner.jpg' })]);
  await expectCondition(
    /, line 1: bannerFile: there is no regular file images\/baner\.jpg in the folder$/,
    async () => {
      await rm(join(images, 'baner.jpg'), { recursive: true, force: true });
      // A link inside the folder is an image.
      await writeFile(join(images, 'banner.jpg'), 'x');
      await symlink('banner.jpg', join(images, 'baner.jpg'));
    },
  );
  expect(await title()).toBe('Next');
});

describe.skipIf(isWindows)(
  'a file that takes the place of the channels is not read, and a stop does not wait for it',
  () => {
    const SECRET = 'hunter2';
    test.each<[string, RegExp, () => Promise<unknown>]>([
      ['a link to an endless device', /leads out of the folder\.$/, () => symlink('/dev/zero', channels)],
      ['a link out of the folder', /leads out of the folder\.$/, linkOut],
      ['600 MB', /has more than 64 MiB\.$/, () => writeFile(channels, '').then(() => truncate(channels, 600e6))],
      ['a long line', /, line 2: has more than 1 MiB$/, () => writeFile(channels, `\n${'['.repeat(2 ** 20 + 1)}`)],
      ['no JSON', /, line 1: not JSON$/, () => writeFile(channels, SECRET)],
      ['a named pipe', /is not a regular file\.$/, async () => execFileSync('mkfifo', [channels])],
    ])('%s', async (_what, detail, make) => {
      await rm(channels);
      await make();
      await expectCondition(detail, mend);
      expect(await title()).toBe('Mended');
    });

    async function linkOut(): Promise<void> {
      await writeFile(join(dataDir, 'outside'), SECRET);
      await symlink(join(dataDir, 'outside'), channels);
    }
  },
);
