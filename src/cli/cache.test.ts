import { readdir } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { systemClock } from '../lib/clock.ts';
import { createDiskFileStore } from '../picture-store/disk-files.ts';
import { EVERYTHING } from '../store/changes.ts';
import { runCacheCommand } from './cache.ts';

/** Runs `cache clear` as on a terminal, where somebody types the line. */
async function clearOnTerminal(directory: string, line: string) {
  let asked = '';
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      asked += String(chunk);
      if (asked.endsWith('[y/N] ')) stdin.write(`${line}\n`);
      done();
    },
  });
  const files = createDiskFileStore({ directory, maxBytes: 1_000_000, clock: systemClock, onEvent: () => undefined });
  const exitCode = await runCacheCommand(['clear'], {
    dataDir: directory,
    redis: undefined,
    imageCacheBytes: 1_000_000,
    consoleOrigin: undefined,
    stdin,
    stdout: new PassThrough(),
    stderr,
    openStores: async () => ({
      purge: {
        purgeChannel: () => Promise.reject(new Error('Nobody asked for that.')),
        purgeChannels: () => Promise.reject(new Error('Nobody asked for that.')),
        purgeAll: async () => void (await files.erase(EVERYTHING)),
        apply: () => Promise.reject(new Error('Nobody asked for that.')),
      },
      problems: () => [],
      close: () => files.close(),
    }),
  });
  return { exitCode, asked };
}

test.each([
  ['y', 0, 0],
  ['Yes', 0, 0],
  ['', 1, 1],
  ['n', 1, 1],
  ['yonder', 1, 1],
])('on a terminal "%s" decides whether the cache is emptied', async (line, exitCode, filesLeft) => {
  const directory = await createTemporaryDirectory();
  const files = createDiskFileStore({ directory, maxBytes: 1_000_000, clock: systemClock, onEvent: () => undefined });
  await files.set('picture2/UC/x', Buffer.from('picture'), 'plain');
  await files.close();
  const ended = await clearOnTerminal(directory, line);
  expect(ended.asked).toContain(`Empty the cache in ${directory}? [y/N]`);
  expect(ended.exitCode).toBe(exitCode);
  const left = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.plain'));
  expect(left).toHaveLength(filesLeft);
});
