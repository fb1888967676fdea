import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndReason, TaskInterrupted } from '../../src/images/encoder/child.ts';
import type { EncoderTask, Priority, TaskReply } from '../../src/images/encoder/job.ts';
import type { EncoderPool } from '../../src/images/encoder/pool.ts';
import { createScheduler } from '../../src/images/encoder/scheduler.ts';
import { createManualClock } from './clock.ts';

/** The result of every successful task. */
export const REPLY: TaskReply = { ok: true, result: Buffer.from('picture'), rssBytes: 1 };

interface FakeTask {
  readonly name: string;
  succeed(): void;
  interrupt(reason: EndReason): void;
}

/** A pool whose tasks end when the test says so. */
function createFakePool(places: number) {
  const running: FakeTask[] = [];
  const pool: EncoderPool = {
    stats: () => ({ running: running.length, processes: places, restarts: 0 }),
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

export const MAX_WAIT_MS = 8_000;

/** A scheduler over a pool whose tasks end when the test says so. */
export function setUpScheduler({ places = 1, queueLength = 64 } = {}) {
  const fake = createFakePool(places);
  const clock = createManualClock();
  const scheduler = createScheduler({ clock, pool: fake.pool, queueLength, deadlineMs: 1_000 });
  function submit(
    name: string,
    client = '',
    priority: Priority = 'interactive',
    signal = new AbortController().signal,
  ) {
    const result = scheduler.submit({ kind: 'inspect', original: { path: name } }, { signal, client, priority });
    // A rejection must not fail a test that ignores the result.
    result.catch(() => undefined);
    return result;
  }
  async function finish(name: string) {
    fake.task(name).succeed();
    await settled();
  }
  return { ...fake, clock, scheduler, submit, finish };
}

/** Waits until all pending callbacks have run. */
export const settled = () => nextTurn();
