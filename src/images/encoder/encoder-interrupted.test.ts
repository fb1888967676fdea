import { describe, expect, it } from 'vitest';
import { RESULT, settled, setUpEncoder } from '../../../test/helpers/fake-pool.ts';
import type { EndReason } from './child.ts';

describe('the encoder, when a process ends', () => {
  it.each<EndReason>(['crash', 'stopped'])('repeats its job before all others: %s', async (reason) => {
    const { submit, interrupt, running, finish } = setUpEncoder();
    const result = submit('1');
    submit('2');
    interrupt('1', reason);
    await settled();
    expect(running()).toEqual(['1']);
    await finish('1');
    expect(await result).toBe(RESULT);
  });

  it('rejects a job that crashed two processes', async () => {
    const { submit, interrupt, running } = setUpEncoder();
    const result = submit('1');
    submit('2');
    interrupt('1', 'crash');
    await settled();
    interrupt('1', 'crash');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual(['2']);
  });

  it('does not repeat a job that took too long', async () => {
    const { submit, interrupt, running } = setUpEncoder();
    const result = submit('1');
    interrupt('1', 'deadline');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual([]);
  });

  it('rejects a job that used up its CPU time for an hour', async () => {
    const { submit, interrupt, running } = setUpEncoder();
    const result = submit('1');
    interrupt('1', 'exhausted');
    await expect(result).rejects.toMatchObject({ code: 'overloaded', validForMs: 3_600_000, retryAfterMs: 3_600_000 });
    expect(running()).toEqual([]);
  });

  it.each<[EndReason, boolean]>([
    ['deadline', true],
    ['exhausted', true],
    ['crash', true],
    ['stopped', false],
    ['preempted', false],
    ['closed', false],
  ])('reports whether the job caused it: %s', async (reason, isToBlame) => {
    const { submit, interrupt } = setUpEncoder();
    const result = submit('1', '', 'background');
    interrupt('1', reason);
    await settled();
    if (['crash', 'stopped'].includes(reason)) interrupt('1', reason);
    await expect(result).rejects.toMatchObject({ scope: isToBlame ? 'key' : 'upstream' });
  });
});
