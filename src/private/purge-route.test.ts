import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Purge, PurgeFailed } from '../cache/purge.ts';
import { createPurgeHandler } from './purge-route.ts';

const BODY = '{"channel":"@pennantsample"}';

/** The response to a purge request that calls this function. @param body the text, or the stream that is read */
async function purge(purgeChannel: () => Promise<unknown>, body: string | Readable = BODY) {
  const handle = createPurgeHandler({ purgeChannel } as unknown as Purge);
  const stream = typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body;
  const request = Object.assign(stream, { headers: { 'x-pennant-console': 'test' } });
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
    return {};
  };
  const bodyOf = (bytes: number) => BODY.padEnd(bytes);
  expect((await purge(count, bodyOf(4_096))).status).toBeUndefined();
  expect(purges).toBe(1);
  expect((await purge(count, bodyOf(4_097))).status).toBe(413);
  expect(purges).toBe(1);
});

test('a body that ends early is no failure of the service, and nothing is purged', async () => {
  async function* aborted() {
    yield Buffer.from(BODY);
    throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  }
  const mustNotPurge = () => Promise.reject(new Error('purged'));
  expect((await purge(mustNotPurge, Readable.from(aborted()))).status).toBe(400);
});

test.each(['{"channel":{"toString":0,"valueOf":0}}', '{"channel":["@pennantsample"]}', '{"channel":null}', '{}', '[]'])(
  'a channel that is not a text is refused: %s',
  async (body) => {
    expect((await purge(async () => undefined, body)).status).toBe(400);
  },
);
