import { describe, expect, it } from 'vitest';
import { REPLY, settled, setUpScheduler } from '../../../test/helpers/scheduler.ts';
import type { EndReason } from './pool.ts';

describe('a job whose process is ended', () => {
  it('tries a job again whose process crashed, before all others', async () => {
    const { submit, task, running, finish } = setUpScheduler();
    const result = submit('1');
    submit('2');
    task('1').interrupt('crash');
    await settled();
    expect(running()).toEqual(['1']);
    await finish('1');
    expect(await result).toBe(REPLY);
  });

  it('gives a job up that crashed two processes', async () => {
    const { submit, task, running } = setUpScheduler();
    const result = submit('1');
    submit('2');
    task('1').interrupt('crash');
    await settled();
    task('1').interrupt('crash');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual(['2']);
  });

  it('does not try a job again that took too long', async () => {
    const { submit, task, running } = setUpScheduler();
    const result = submit('1');
    task('1').interrupt('deadline');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual([]);
  });

  it.each<[EndReason, boolean]>([
    ['deadline', true],
    ['crash', true],
    ['preempted', false],
    ['closed', false],
  ])('says whether a job itself is to blame: %s', async (reason, isToBlame) => {
    const { submit, task } = setUpScheduler();
    const result = submit('1', '', 'background');
    task('1').interrupt(reason);
    await settled();
    if (reason === 'crash') task('1').interrupt(reason);
    await expect(result).rejects.toMatchObject({ scope: isToBlame ? 'key' : 'upstream' });
  });
});
