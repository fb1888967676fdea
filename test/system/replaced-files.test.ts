import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childrenOf, startServiceForTest } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* A service whose files are replaced while it runs, as `git pull && npm ci` does. */

const PACKAGES = new URL('../../node_modules/', import.meta.url);
const SHARP = new URL('sharp', PACKAGES);

test('an encoder that cannot be loaded gives one log line until it is usable again', async () => {
  const project = await createTemporaryDirectory();
  await copyProject(project);
  const directory = await createTemporaryDirectory();
  const program = [process.execPath, join(project, 'dist/pennant.js')];
  const service = await startServiceForTest({ directory, program, env: { ENCODERS: '1' } });
  let width = 100;
  const askForImage = async () => {
    width += 1;
    const { status, headers } = await fetch(`${service.base}/UCPennantSample00000001A/tv.jpg?width=${width}`);
    return [status, headers.get('retry-after')];
  };
  const problem = async () => {
    const ready = (await (await fetch(`${service.inside}/readyz`)).json()) as {
      conditions: { name: string; detail: string }[];
    };
    return ready.conditions.find(({ name }) => name === 'encoder')?.detail ?? 'none';
  };
  await expect.poll(askForImage).toEqual([200, null]);

  // The running encoder has loaded its files. The next one cannot.
  const link = join(project, 'node_modules/sharp');
  await rm(link);
  const [encoder = 0] = await childrenOf(service.pid);
  process.kill(encoder, 'SIGKILL');
  await expect.poll(() => childrenOf(service.pid)).toEqual([]);
  expect(await askForImage()).toEqual([503, '5']);
  expect(await askForImage()).toEqual([503, '5']);
  expect(await problem()).toMatch(/^cannot be loaded \(Cannot find package 'sharp'/);

  await symlink(SHARP, link);
  await expect.poll(askForImage, { interval: 200 }).toEqual([200, null]);
  expect(await problem()).toBe('none');

  const lines = service.output().split('\n');
  expect(lines.filter((line) => line.includes('"condition":"encoder"'))).toEqual([
    expect.stringMatching(/"level":40.*"msg":"encoder: cannot be loaded \(/),
    expect.stringMatching(/"level":30.*"msg":"encoder works again"/),
  ]);
  // After the first log line there are only log lines.
  const firstLogLine = lines.findIndex((line) => line.startsWith('{'));
  expect(lines.slice(firstLogLine).filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
});
