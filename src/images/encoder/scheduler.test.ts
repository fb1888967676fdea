import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { recordSpans } from '../../../test/helpers/recorded-spans.ts';
import type { EncoderTask, Priority, TaskReply } from './job.ts';
import { type EncoderPool, type EndReason, TaskInterrupted } from './pool.ts';
import { createScheduler } from './scheduler.ts';

const { startRequest } = recordSpans();
const REPLY: TaskReply = { ok: true, result: Buffer.from('picture'), rssBytes: 1 };

interface FakeTask {
  readonly name: string;
  succeed(): void;
  interrupt(reason: EndReason): void;
}

/** A pool whose tasks end when the test says so. */
function createFakePool(places: number) {
  const running: FakeTask[] = [];
  const pool: EncoderPool = {
    get busy() {
      return running.length;
    },
    processes: places,
    hasFreePlace: () => running.length < places,
    warmUp: () => undefined,
    run(task) {
      const reply = Promise.withResolvers<TaskReply>();
      const leave = () => running.splice(running.indexOf(fake), 1);
      const fake: FakeTask = {
        name: nameOf(task),
        succeed() {
          leave();
          reply.resolve(REPLY);
        },
        interrupt(reason) {
          leave();
          reply.reject(new TaskInterrupted(reason));
        },
      };
      running.push(fake);
      return { reply: reply.promise, preempt: () => fake.interrupt('preempted') };
    },
    close: async () => undefined,
  };
  const task = (name: string) => {
    const found = running.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`${name} does not run`);
    return found;
  };
  return { pool, task, running: () => running.map(({ name }) => name) };
}

function nameOf(task: EncoderTask): string {
  return task.kind === 'inspect' && 'path' in task.original ? task.original.path : '';
}

const MAX_WAIT_MS = 8_000;

function setUp({ places = 1, queueLength = 64 } = {}) {
  const fake = createFakePool(places);
  const clock = createManualClock();
  const scheduler = createScheduler({
    clock,
    pool: fake.pool,
    queueLength,
    maxWaitMs: MAX_WAIT_MS,
    deadlineMs: () => 1_000,
  });
  function submit(
    name: string,
    client = '',
    priority: Priority = 'interactive',
    signal = new AbortController().signal,
  ) {
    const result = scheduler.submit({ kind: 'inspect', original: { path: name } }, { signal, client, priority });
    // Whether a test looks at the outcome or not, a rejection is no accident here.
    result.catch(() => undefined);
    return result;
  }
  async function finish(name: string) {
    fake.task(name).succeed();
    await settled();
  }
  return { ...fake, clock, scheduler, submit, finish };
}

/** Until all that follows from what just happened has followed. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('the scheduler', () => {
  it('runs as much at a time as there are places, and answers each with its reply', async () => {
    const { submit, running, finish } = setUp({ places: 2 });
    const first = submit('1');
    submit('2');
    const third = submit('3');
    expect(running()).toEqual(['1', '2']);
    await finish('1');
    expect(await first).toBe(REPLY);
    expect(running()).toEqual(['2', '3']);
    await finish('3');
    expect(await third).toBe(REPLY);
  });

  it('lets clients take turns', async () => {
    const { submit, running, finish } = setUp();
    for (const name of ['a1', 'a2', 'a3', 'b1']) submit(name, name.charAt(0));
    const order: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const [name = ''] = running();
      order.push(name);
      await finish(name);
    }
    expect(order).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('refuses at once what comes to a full queue, and says when to come again', async () => {
    const { submit, scheduler } = setUp({ queueLength: 2 });
    for (const name of ['1', '2', '3']) submit(name);
    await expect(submit('4')).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(scheduler.stats()).toEqual({ queued: 2, running: 1, refused: 1 });
  });

  it('refuses the newest job of the client that has most waiting, for a newcomer to a full queue', async () => {
    const { submit, scheduler, finish, running } = setUp({ queueLength: 3 });
    submit('running', 'a');
    const [first, second] = [submit('a1', 'a'), submit('a2', 'a')];
    const other = submit('b1', 'b');
    const newcomer = submit('c1', 'c');
    await expect(second).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(scheduler.stats()).toEqual({ queued: 3, running: 1, refused: 1 });
    for (const name of ['running', 'a1', 'b1', 'c1']) await finish(name);
    expect(await Promise.all([first, other, newcomer])).toEqual([REPLY, REPLY, REPLY]);
    expect(running()).toEqual([]);
  });

  it('keeps a job for which somebody else waits as well', async () => {
    const { submit, scheduler, pool } = setUp({ queueLength: 2 });
    submit('running', 'a');
    expect(pool.busy).toBe(1);
    const options = { signal: new AbortController().signal, client: 'a', isShared: () => true };
    const shared = scheduler.submit({ kind: 'inspect', original: { path: 'shared' } }, options);
    shared.catch(() => undefined);
    const newest = submit('a1', 'a');
    submit('b1', 'b');
    await expect(newest).rejects.toMatchObject({ code: 'overloaded' });
    await expect(submit('c1', 'c')).rejects.toMatchObject({ code: 'overloaded' });
    expect(scheduler.stats().queued).toBe(2);
  });

  it('refuses what has waited too long for its turn, and makes room for others', async () => {
    const { submit, scheduler, running, clock } = setUp({ queueLength: 1 });
    submit('1');
    const late = submit('2');
    clock.advance(MAX_WAIT_MS - 1);
    expect(scheduler.stats().queued).toBe(1);
    clock.advance(1);
    await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 5_000 });
    expect(running()).toEqual(['1']);
    expect(scheduler.stats()).toEqual({ queued: 0, running: 1, refused: 1 });
  });

  it('does not let work wait too long that has begun, nor work that nobody waits for', async () => {
    const { submit, finish, scheduler, clock } = setUp();
    const begun = submit('1');
    const background = submit('background', '', 'background');
    const late = submit('2');
    clock.advance(MAX_WAIT_MS);
    await expect(late).rejects.toMatchObject({ code: 'overloaded' });
    expect(scheduler.stats()).toMatchObject({ queued: 1, running: 1 });
    await finish('1');
    await finish('background');
    expect(await Promise.all([begun, background])).toEqual([REPLY, REPLY]);
  });

  it('keeps room for interactive work however much background work waits', async () => {
    const { submit, running, finish } = setUp({ queueLength: 1 });
    submit('1');
    submit('background', '', 'background');
    await expect(submit('more background', '', 'background')).rejects.toMatchObject({ code: 'overloaded' });
    submit('2');
    await finish('1');
    expect(running()).toEqual(['2']);
  });

  it('drops a job that nobody waits for before it starts', async () => {
    const { submit, running, finish, scheduler } = setUp();
    submit('1');
    const leaving = new AbortController();
    const dropped = submit('2', '', 'interactive', leaving.signal);
    submit('3');
    leaving.abort(new Error('gone'));
    await expect(dropped).rejects.toThrow('gone');
    expect(scheduler.stats().queued).toBe(1);
    await finish('1');
    expect(running()).toEqual(['3']);
  });

  it('does not take a job whose client has already left', async () => {
    const { submit, running } = setUp();
    await expect(submit('1', '', 'interactive', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(running()).toEqual([]);
  });

  it('finishes a job that has started though its client leaves', async () => {
    const { submit, finish } = setUp();
    const leaving = new AbortController();
    const result = submit('1', '', 'interactive', leaving.signal);
    leaving.abort();
    await finish('1');
    expect(await result).toBe(REPLY);
  });

  it('runs background work after all interactive work, and one at a time', async () => {
    const { submit, running, finish } = setUp({ places: 2 });
    submit('1');
    submit('2');
    submit('background 1', '', 'background');
    submit('background 2', '', 'background');
    submit('3');
    await finish('1');
    expect(running()).toEqual(['2', '3']);
    await finish('2');
    await finish('3');
    expect(running()).toEqual(['background 1']);
    await finish('background 1');
    expect(running()).toEqual(['background 2']);
  });

  it('ends background work when interactive work waits and no place is free', async () => {
    const { submit, running } = setUp({ places: 2 });
    const background = submit('background', '', 'background');
    submit('1');
    expect(running()).toEqual(['background', '1']);
    submit('2');
    expect(running()).toEqual(['1', '2']);
    await expect(background).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('tries a job again whose process crashed, before all others', async () => {
    const { submit, task, running, finish } = setUp();
    const result = submit('1');
    submit('2');
    task('1').interrupt('crash');
    await settled();
    expect(running()).toEqual(['1']);
    await finish('1');
    expect(await result).toBe(REPLY);
  });

  it('gives a job up that crashed two processes', async () => {
    const { submit, task, running } = setUp();
    const result = submit('1');
    submit('2');
    task('1').interrupt('crash');
    await settled();
    task('1').interrupt('crash');
    await expect(result).rejects.toMatchObject({ code: 'overloaded' });
    expect(running()).toEqual(['2']);
  });

  it('does not try a job again that took too long', async () => {
    const { submit, task, running } = setUp();
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
    const { submit, task } = setUp();
    const result = submit('1', '', 'background');
    task('1').interrupt(reason);
    await settled();
    if (reason === 'crash') task('1').interrupt(reason);
    await expect(result).rejects.toMatchObject({ scope: isToBlame ? 'key' : 'upstream' });
  });

  it('refuses what waits and what still comes once it is closed', async () => {
    const { submit, scheduler } = setUp();
    submit('1');
    const waiting = submit('2');
    scheduler.close();
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    await expect(submit('3')).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('traces each task’s wait and its time in a process as parts of the request that submitted it', async () => {
    const { submit, task, finish } = setUp();
    const [first, second] = [startRequest(), startRequest()];
    first.run(() => submit('1'));
    second.run(() => submit('2'));
    task('1').interrupt('crash');
    await settled();
    await finish('1');
    await finish('2');
    expect(first.children()).toMatchObject([
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: { type: 'crash' } },
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: undefined },
    ]);
    expect(second.children()).toMatchObject([
      { name: 'encoder queue', failure: undefined },
      { name: 'encoder task', failure: undefined },
    ]);
  });

  it('traces what was given up while it waited, and leaves nothing open for what was refused', async () => {
    const { submit, clock } = setUp({ queueLength: 1 });
    const [late, refused] = [startRequest(), startRequest()];
    submit('running');
    const waiting = late.run(() => submit('late'));
    await expect(refused.run(() => submit('refused'))).rejects.toMatchObject({ code: 'overloaded' });
    clock.advance(MAX_WAIT_MS);
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    await settled();
    expect(late.children()).toMatchObject([{ name: 'encoder queue', failure: { type: 'overloaded' } }]);
    expect(refused.children()).toEqual([]);
  });
});
