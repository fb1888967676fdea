import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { clientOf } from '../../../test/helpers/clients.ts';
import { NEVER_ABORTED } from '../../lib/deadlines.ts';
import { withRequest } from '../../lib/work.ts';
import { createEncoder } from './encoder.ts';
import type { TaskReply } from './job.ts';
import type { EncoderPool } from './pool.ts';

it('the encoder leaves one place free for other networks', async () => {
  const running = new Map<string, (reply: TaskReply) => void>();
  const pool: EncoderPool = {
    places: 3,
    stats: () => ({ running: running.size, processes: 3, restarts: 0 }),
    warmUp: () => undefined,
    run(task) {
      const name = task.original.toString();
      return new Promise((resolve) => running.set(name, resolve));
    },
    close: async () => undefined,
  };
  const encoder = createEncoder({ pool });
  async function submit(name: string, network: string) {
    const client = clientOf(`${network}/${name}`);
    void withRequest({ requestId: name, client }, () => encoder.inspect(Buffer.from(name), NEVER_ABORTED));
    await nextTurn();
  }
  async function finish(name: string) {
    running.get(name)?.({ ok: true, result: Buffer.from('image'), rssBytes: 1 });
    running.delete(name);
    await nextTurn();
  }
  for (const name of ['a', 'b', 'c', 'd']) await submit(name, 'network');
  expect([...running.keys()]).toEqual(['a', 'b']);
  await submit('z', 'other');
  await finish('a');
  expect([...running.keys()]).toEqual(['b', 'z', 'c']);
  await finish('z');
  expect([...running.keys()]).toEqual(['b', 'c']);
  expect(encoder.stats().queued).toBe(1);
});
