import { expect, it } from 'vitest';
import { createSharedWork } from './shared-work.ts';

/** Shared work that ends when the test says so. */
function setUp() {
  const shared = createSharedWork<string>();
  const runs: { end: (result: string) => void; signal: AbortSignal }[] = [];
  const run = (signal = new AbortController().signal) =>
    shared.run('key', signal, (own) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      runs.push({ end: resolve, signal: own });
      return promise;
    });
  return { shared, runs, run };
}

it('is joined by concurrent callers', async () => {
  const { shared, runs, run } = setUp();
  const results = [run(), run()];
  runs[0]?.end('once');
  expect(await Promise.all(results)).toEqual(['once', 'once']);
  expect([runs.length, shared.stats()]).toEqual([1, { entries: 0 }]);
});

it('is aborted when its last caller leaves, and later callers start it again', async () => {
  const { runs, run } = setUp();
  const leaving = new AbortController();
  const before = run(leaving.signal);
  leaving.abort(new Error('left'));
  await expect(before).rejects.toThrow('left');
  const after = run();
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  runs[1]?.end('new');
  expect(await after).toBe('new');
});
