import { describe, expect, it } from 'vitest';
import { REPLY, settled, setUpScheduler } from '../../../test/helpers/scheduler.ts';
import type { EndReason } from './child.ts';

describe('the scheduler, when a process ends', () => {
  it('repeats the job of a crashed process before all others', async () => {
    const { submit, interrupt, running, finish } = setUpScheduler();
    const result = submit('1');
    submit('2');
    interrupt('1', 'crash');
    await settled();
    expect(running()).toEqual(['1']);
    await finish('1');
    expect(await result).toBe(REPLY);
  });

  it('rejects a job that crashed two processes', async () => {
    const { submit, interrupt, running } = setUpScheduler();
    const result = submit('1');
    submit('2');
    interrupt('1', 'crash');
    await settled();
    interrupt('1', 'crash');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual(['2']);
  });

  it('does not repeat a job that took too long', async () => {
    const { submit, interrupt, running } = setUpScheduler();
    const result = submit('1');
    interrupt('1', 'deadline');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual([]);
  });

  it.each<[EndReason, boolean]>([
    ['deadline', true],
    ['crash', true],
    ['preempted', false],
    ['closed', false],
  ])('reports whether the job caused it: %s', async (reason, isToBlame) => {
    const { submit, interrupt } = setUpScheduler();
    const result = submit('1', '', 'background');
    interrupt('1', reason);
    await settled();
    if (reason === 'crash') interrupt('1', reason);
    await expect(result).rejects.toMatchObject({ scope: isToBlame ? 'key' : 'upstream' });
  });
});
