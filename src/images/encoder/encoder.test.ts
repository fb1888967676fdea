import { describe, expect, it } from 'vitest';
import { MAX_WAIT_MS, RESULT, setUpEncoder } from '../../../test/helpers/fake-pool.ts';
import type { EndReason } from './child.ts';

describe('the encoder', () => {
  it('runs as many jobs at a time as there are places, and returns the reply of each', async () => {
    const { submit, running, finish } = setUpEncoder({ places: 2 });
    const first = await submit('1', 'a');
    await submit('2', 'b');
    const third = await submit('3', 'c');
    expect(running()).toEqual(['1', '2']);
    await finish('1');
    expect(await first.result).toBe(RESULT);
    expect(running()).toEqual(['2', '3']);
    await finish('3');
    expect(await third.result).toBe(RESULT);
  });

  it('leaves one place free for other networks', async () => {
    const { submit, running, finish } = setUpEncoder({ places: 3 });
    for (const name of ['a1', 'b1', 'c1', 'd1']) await submit(name, `network/${name.charAt(0)}`);
    expect(running()).toEqual(['a1', 'b1']);
    await submit('z1', 'z');
    expect(running()).toEqual(['a1', 'b1', 'z1']);
    await finish('a1');
    expect(running()).toEqual(['b1', 'z1', 'c1']);
    await finish('z1');
    expect(running()).toEqual(['b1', 'c1']);
  });

  it('rejects a job at once if the queue is full, or after its time, with a time to retry', async () => {
    const { submit, encoder, clock, running } = setUpEncoder({ queueLength: 2 });
    await submit('1');
    const waiting = await submit('2');
    await submit('3');
    const refusal = { code: 'overloaded', retryAfterMs: 5_000 };
    await expect((await submit('4')).result).rejects.toMatchObject(refusal);
    expect(encoder.stats()).toMatchObject({ queued: 2, running: 1, refused: 1 });
    clock.advance(MAX_WAIT_MS);
    await expect(waiting.result).rejects.toMatchObject(refusal);
    expect(encoder.stats()).toMatchObject({ queued: 0, running: 1, refused: 3 });
    expect(running()).toEqual(['1']);
  });

  it('drops a waiting job when its client leaves, and finishes a started one', async () => {
    const { submit, running, finish, encoder } = setUpEncoder();
    const leaving = new AbortController();
    const started = await submit('1', '', leaving.signal);
    const dropped = await submit('2', '', leaving.signal);
    await submit('3');
    leaving.abort();
    await expect(dropped.result).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(encoder.stats().queued).toBe(1);
    await finish('1');
    expect(await started.result).toBe(RESULT);
    expect(running()).toEqual(['3']);
  });

  it('rejects waiting and new jobs once it is closed', async () => {
    const { submit, encoder } = setUpEncoder();
    await submit('1');
    const waiting = await submit('2');
    await encoder.close();
    await expect(waiting.result).rejects.toMatchObject({ code: 'overloaded' });
    await expect((await submit('3')).result).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('the encoder, when a process ends', () => {
  it('repeats a job whose process crashed, once, before all others', async () => {
    const { submit, interrupt, running, finish } = setUpEncoder();
    const first = await submit('1');
    const second = await submit('2');
    await interrupt('1', 'crash');
    expect(running()).toEqual(['1']);
    await finish('1');
    expect(await first.result).toBe(RESULT);
    for (let crash = 0; crash < 2; crash += 1) await interrupt('2', 'crash');
    await expect(second.result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual([]);
  });

  it.each<[EndReason, object]>([
    ['deadline', { scope: 'key', retryAfterMs: 5_000 }],
    ['exhausted', { scope: 'key', validForMs: 3_600_000, retryAfterMs: 3_600_000 }],
    ['unusable', { scope: 'upstream' }],
    ['closed', { scope: 'upstream' }],
  ])('does not repeat a job, and reports whether the job caused it: %s', async (reason, error) => {
    const { submit, interrupt, running } = setUpEncoder();
    const { result } = await submit('1');
    await interrupt('1', reason);
    await expect(result).rejects.toMatchObject({ code: 'overloaded', ...error });
    expect(running()).toEqual([]);
  });
});
