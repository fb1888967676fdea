import { describe, expect, it } from 'vitest';
import { clientOf } from '../../../test/helpers/clients.ts';
import { MAX_WAIT_MS, RESULT, setUpEncoder } from '../../../test/helpers/fake-pool.ts';

describe('the queue of the encoder', () => {
  it('rejects a job at once if the queue is full, with a time to retry', async () => {
    const { submit, encoder } = setUpEncoder({ queueLength: 2 });
    for (const name of ['1', '2', '3']) submit(name);
    await expect(submit('4')).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(encoder.stats()).toMatchObject({ queued: 2, running: 1, refused: 1 });
  });

  it('rejects the newest job of the client with the most jobs for a new client if the queue is full', async () => {
    const { submit, encoder, finish, running } = setUpEncoder({ queueLength: 3 });
    submit('running', 'a');
    const [first, second] = [submit('a1', 'a'), submit('a2', 'a')];
    const other = submit('b1', 'b');
    const newcomer = submit('c1', 'c');
    await expect(second).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(encoder.stats()).toMatchObject({ queued: 3, running: 1, refused: 1 });
    for (const name of ['running', 'a1', 'b1', 'c1']) await finish(name);
    expect(await Promise.all([first, other, newcomer])).toEqual([RESULT, RESULT, RESULT]);
    expect(running()).toEqual([]);
  });

  it('counts jobs that no client waits for apart', async () => {
    const { submit, encoder } = setUpEncoder({ queueLength: 2 });
    submit('running');
    submit('waiting');
    for (const name of ['b1', 'b2']) submit(name, '', 'background');
    await expect(submit('b3', '', 'background')).rejects.toMatchObject({ code: 'overloaded' });
    expect(encoder.stats()).toMatchObject({ queued: 1, queuedInBackground: 2, running: 1, refused: 0 });
  });

  it('lets a client that has used little come first', async () => {
    const { submit, finish, running, clock } = setUpEncoder();
    submit('a1', 'a');
    clock.advance(500);
    await finish('a1');
    submit('b1', 'b');
    submit('a2', 'a');
    submit('c1', 'c');
    await finish('b1');
    expect(running()).toEqual(['c1']);
  });

  it('lets an original of few pixels come before one of many', async () => {
    const { submit, encoder, finish, running } = setUpEncoder();
    submit('running');
    const options = { signal: new AbortController().signal, client: clientOf('a'), statedPixels: 50_000_000 };
    void encoder.inspect({ path: 'large' }, options);
    for (const name of ['b', 'c', 'd']) submit(name, name);
    for (const name of ['running', 'b', 'c', 'd']) await finish(name);
    expect(running()).toEqual(['large']);
  });

  it('rejects a job that waited too long, which makes room for others', async () => {
    const { submit, encoder, running, clock } = setUpEncoder({ queueLength: 1 });
    submit('1');
    const late = submit('2');
    clock.advance(MAX_WAIT_MS - 1);
    expect(encoder.stats().queued).toBe(1);
    clock.advance(1);
    await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(running()).toEqual(['1']);
    expect(encoder.stats()).toMatchObject({ queued: 0, running: 1, refused: 1 });
  });

  it('does not limit the wait of jobs that have begun, or that no client waits for', async () => {
    const { submit, finish, encoder, clock } = setUpEncoder();
    const begun = submit('1');
    const background = submit('background', '', 'background');
    const late = submit('2');
    clock.advance(MAX_WAIT_MS);
    await expect(late).rejects.toMatchObject({ code: 'overloaded' });
    expect(encoder.stats()).toMatchObject({ queued: 0, queuedInBackground: 1, running: 1, refused: 1 });
    await finish('1');
    await finish('background');
    expect(await Promise.all([begun, background])).toEqual([RESULT, RESULT]);
  });

  it('keeps room for interactive work, however much background work is waiting', async () => {
    const { submit, running, finish } = setUpEncoder({ queueLength: 1 });
    submit('1');
    submit('background', '', 'background');
    await expect(submit('more background', '', 'background')).rejects.toMatchObject({ code: 'overloaded' });
    submit('2');
    await finish('1');
    expect(running()).toEqual(['2']);
  });
});
