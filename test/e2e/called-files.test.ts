import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeAll, expect, test } from 'vitest';
import type { CalledFiles } from './called-files-worker.ts';

/*
 * How many files of src a request crosses when its value is in memory and the micro-cache has no response: those in
 * which a function is called. The bounds are what docs/architecture.md names. Lower them with every file that is saved.
 */

let called: CalledFiles[];
beforeAll(async () => {
  const worker = new Worker(new URL('./called-files-worker.ts', import.meta.url), { execArgv: [] });
  [called] = (await once(worker, 'message')) as [CalledFiles[]];
  await worker.terminate();
});

test.each([
  ['picture', 0, 24],
  ['record', 1, 18],
])('a warm %s crosses no more files than the documents name', (_what, at, most) => {
  const { cacheStatus, files } = called[at] as CalledFiles;
  expect(cacheStatus).toMatch(/^pennant; hit/);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
});
