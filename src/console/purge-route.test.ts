import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Purge, RemovalDelayed } from '../services/purge.ts';
import { createPurgeHandler } from './purge-route.ts';

/** Sends a purge of everything to a handler whose purge does this. */
async function purge(purgeAll: () => Promise<unknown>, body = '{"everything":true}') {
  const handle = createPurgeHandler({ purgeAll } as unknown as Purge, '.');
  const request = Object.assign(Readable.from([Buffer.from(body)]), { headers: { 'x-pennant-console': 'test' } });
  return await handle(request as unknown as IncomingMessage);
}

test('a purge that is not complete is a 503, so that the operator does not rely on it', async () => {
  const delayed = new RemovalDelayed('it is still in Redis');
  const { status, body } = await purge(() => Promise.reject(delayed));
  expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining('it is still in Redis')]);
});

test('a body of 4 KiB is read, and a longer one is refused without a purge', async () => {
  let purges = 0;
  const count = async () => {
    purges += 1;
  };
  const bodyOf = (bytes: number) => '{"everything":true}'.padEnd(bytes);
  expect((await purge(count, bodyOf(4_096))).status).toBeUndefined();
  expect(purges).toBe(1);
  expect((await purge(count, bodyOf(4_097))).status).toBe(413);
  expect(purges).toBe(1);
});
