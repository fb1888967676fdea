import { afterEach, expect, it } from 'vitest';
import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const QUEUE_LENGTH = 6;

let service: TestApp;
afterEach(() => service.close());

function ask(client: string, width: number, format = 'png') {
  return service.get(`/UCPennantSample00000001A/avatar.${format}?width=${width}`, { 'x-forwarded-for': client });
}

/** One process and a short queue. Encodes wait in front of it until this many have arrived. Nothing is read from disk. */
async function startService(encodes: number, env: Record<string, string> = {}): Promise<void> {
  const encoder = createEncoder({ processes: 1, queueLength: QUEUE_LENGTH });
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const encode: Encoder['encode'] = async (job, options) => {
    waiting += 1;
    if (waiting === encodes) gate.resolve();
    await gate.promise;
    return encoder.encode(job, options);
  };
  service = await startTestApp({
    env: { TRUST_PROXY: '127.0.0.0/8', IMAGE_CACHE_BYTES: '0', ...env },
    encoder: { ...encoder, encode },
  });
}

it('a client that requests one expensive image gets it while 200 clients of one network request a cheap one each', async () => {
  await startService(201, { RATE_LIMIT_OVERRIDES: '' });
  const hogs = Array.from({ length: 200 }, (_, number) => ask(`2001:db8:17:${number.toString(16)}::1`, 1 + number));
  const newcomer = ask('2001:db8:18::1', 300, 'avif');
  expect((await newcomer).status).toBe(200);
  const statuses = (await Promise.all(hogs)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(100);
  expect(statuses).toContain(200);
});
