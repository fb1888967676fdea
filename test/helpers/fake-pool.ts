import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndReason, TaskInterrupted } from '../../src/images/encoder/child.ts';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import type { TaskReply } from '../../src/images/encoder/job.ts';
import type { EncoderPool } from '../../src/images/encoder/pool.ts';
import { clientOf } from './clients.ts';
import { createManualClock } from './clock.ts';

/** The result of every successful task. */
export const RESULT = Buffer.from('image');
const REPLY: TaskReply = { ok: true, result: RESULT, rssBytes: 1 };

/** A pool whose tasks end when the test says so. */
function createFakePool(places: number) {
  /** By the names of their tasks. */
  const running = new Map<string, PromiseWithResolvers<TaskReply>>();

  function end(name: string): PromiseWithResolvers<TaskReply> {
    const reply = running.get(name);
    if (reply === undefined) throw new Error(`${name} does not run`);
    running.delete(name);
    return reply;
  }
  const interrupt = (name: string, reason: EndReason) => end(name).reject(new TaskInterrupted(reason));
  const pool: EncoderPool = {
    stats: () => ({ running: running.size, processes: places, restarts: 0 }),
    places,
    warmUp: () => undefined,
    run(task) {
      const name = task.kind === 'inspect' && 'path' in task.original ? task.original.path : '';
      const reply = Promise.withResolvers<TaskReply>();
      running.set(name, reply);
      return reply.promise;
    },
    close: async () => undefined,
  };
  return { pool, interrupt, succeed: (name: string) => end(name).resolve(REPLY), running: () => [...running.keys()] };
}

const PATIENT = new AbortController().signal;
export const MAX_WAIT_MS = 8_000;

/** An encoder over a pool whose tasks end when the test says so. */
export function setUpEncoder({ places = 1, queueLength = 64 } = {}) {
  const fake = createFakePool(places);
  const clock = createManualClock();
  const encoder = createEncoder({ clock, pool: fake.pool, queueLength, deadlineMs: 1_000 });
  /** @param client a network of its own, unless it is `network/client` */
  async function submit(name: string, client = '', signal = PATIENT) {
    const result = encoder.inspect({ path: name }, { signal, client: clientOf(client) });
    // A rejection must not fail a test that ignores the result.
    result.catch(() => undefined);
    await nextTurn();
    return { result };
  }
  async function finish(name: string) {
    fake.succeed(name);
    await nextTurn();
  }
  async function interrupt(name: string, reason: EndReason) {
    fake.interrupt(name, reason);
    await nextTurn();
  }
  return { running: fake.running, clock, encoder, submit, finish, interrupt };
}
