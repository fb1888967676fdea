import { describe, expect, it } from 'vitest';
import { createEpochs } from './epoch.ts';
import { createSharedWork } from './shared-work.ts';
import { asWork } from './work.ts';

const NEVER = new AbortController().signal;

/** Shared work that ends when the test says so. */
function setUp() {
  const epochs = createEpochs();
  const shared = createSharedWork<string>();
  const runs: { end: (result: string) => void; signal: AbortSignal }[] = [];
  const run = (signal = NEVER) =>
    asWork(epochs.current(), () =>
      shared.run('key', signal, (own) => {
        const { promise, resolve } = Promise.withResolvers<string>();
        runs.push({ end: resolve, signal: own });
        return promise;
      }),
    );
  return { epochs, shared, runs, run };
}

describe('shared work', () => {
  it('is joined by concurrent callers', async () => {
    const { runs, run } = setUp();
    const results = [run(), run()];
    runs[0]?.end('once');
    expect(await Promise.all(results)).toEqual(['once', 'once']);
    expect(runs).toHaveLength(1);
  });

  it('is not joined in a later epoch', async () => {
    const { epochs, shared, runs, run } = setUp();
    const before = run();
    epochs.moveTo('next');
    expect(shared.isRunning('key')).toBe(false);
    const after = [run(), run()];
    runs[0]?.end('old');
    expect(await before).toBe('old');
    // The end of the earlier work leaves the later one joinable.
    after.push(run());
    runs[1]?.end('new');
    expect(await Promise.all(after)).toEqual(['new', 'new', 'new']);
    expect(runs).toHaveLength(2);
    expect(shared.stats()).toEqual({ entries: 0 });
  });

  it('is aborted when its last caller leaves, also if later work has replaced it', async () => {
    const { epochs, runs, run } = setUp();
    const leaving = new AbortController();
    const before = run(leaving.signal);
    epochs.moveTo('next');
    const after = run();
    leaving.abort(new Error('left'));
    await expect(before).rejects.toThrow('left');
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    runs[1]?.end('new');
    expect(await after).toBe('new');
    expect(runs[1]?.signal.aborted).toBe(false);
  });
});
