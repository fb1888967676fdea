import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Purge, PurgeFailed } from '../services/purge.ts';
import { createPurgeHandler } from './purge-route.ts';

/** The response to a purge request that calls this function. */
async function purge(purgeAll: () => Promise<unknown>, body = '{"everything":true}') {
  const handle = createPurgeHandler({ purgeAll } as unknown as Purge, '.');
  const request = Object.assign(Readable.from([Buffer.from(body)]), { headers: { 'x-pennant-console': 'test' } });
  return await handle(request as unknown as IncomingMessage);
}

test('a purge that has failed is a 503 with what to do', async () => {
  const failed = new PurgeFailed('Redis cannot be changed. Try again when Redis works');
  const { status, body } = await purge(() => Promise.reject(failed));
  expect([status, body]).toEqual([
    503,
    { status: 503, detail: 'Redis cannot be changed. Try again when Redis works.' },
  ]);
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
