import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeImage, fetchNewImage } from '../helpers/image.ts';
import { startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const IS_WINDOWS = process.platform === 'win32';

test('the program serves a record and an image, ends with status 0 on SIGTERM, and leaves no file that others can read', async () => {
  const directory = await createTemporaryDirectory();
  const service = await startServiceForTest({ directory });
  const image = await fetchNewImage(`${service.base}/@pennantsample/avatar.jpg`);
  expect(await decodeImage(image)).toMatchObject({ format: 'jpeg' });
  const response = await fetch(`${service.base}/api/channel/pennantsample?type=handle`);
  expect(await response.json()).toMatchObject({ channelId: 'UCPennantSample00000001A', title: 'Pennant Sample' });
  service.child.kill('SIGTERM');
  // Windows has no signals: the process is ended there.
  expect(await service.ended).toBe(IS_WINDOWS ? 'SIGTERM' : 0);

  const readableByOthers = IS_WINDOWS ? [] : await findReadableByOthers(join(directory, 'data'));
  expect(readableByOthers).toEqual([]);
});

/** Files and directories that other users than the owner and its group can use, or that the group can change. */
async function findReadableByOthers(directory: string): Promise<string[]> {
  const paths = (await readdir(directory, { recursive: true })).map((name) => join(directory, name));
  const modes = await Promise.all(paths.map(async (path) => ({ path, mode: (await stat(path)).mode })));
  expect(paths.map((path) => basename(path))).toContain('cache.db');
  return modes.filter(({ mode }) => (mode & 0o027) !== 0).map(({ path }) => path);
}
