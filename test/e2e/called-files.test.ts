import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeAll, expect, test } from 'vitest';
import type { CalledFiles } from './called-files-worker.ts';

/*
 * Counts the files of src in which a function is called for a request whose value is in memory and whose response is not
 * in the micro-cache. docs/architecture.md names the limits. Lower them with every file that is saved.
 */

let called: CalledFiles[];
beforeAll(async () => {
  const worker = new Worker(new URL('./called-files-worker.ts', import.meta.url), { execArgv: [] });
  [called] = (await once(worker, 'message')) as [CalledFiles[]];
  await worker.terminate();
});

test.each([
  ['picture', 0, 25],
  ['record', 1, 19],
])('a warm %s crosses at most as many files as docs/architecture.md names', (_what, at, most) => {
  const { cacheStatus, files } = called[at] as CalledFiles;
  expect(cacheStatus).toMatch(/^pennant; hit/);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
});
