import { afterEach, expect, it } from 'vitest';
import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const HOGS = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
const IMAGES_EACH = 10;
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

it('a client that requests one image gets it while others fill the queue', async () => {
  await startService(HOGS.length * IMAGES_EACH + 1);
  const hogs = HOGS.map((client, index) =>
    Promise.all(Array.from({ length: IMAGES_EACH }, (_, image) => ask(client, 100 + 10 * index + image))),
  );
  const newcomer = ask('198.51.100.1', 16);
  expect((await newcomer).status).toBe(200);
  const responses = (await Promise.all(hogs)).flat();
  const refused = responses.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  for (const response of refused) {
    expect(response.json().code).toBe('overloaded');
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  }
  for (const images of await Promise.all(hogs)) {
    expect(images.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  }
});

it('a client that requests one expensive image gets it while 200 clients of one network request a cheap one each', async () => {
  await startService(201, { RATE_LIMIT_OVERRIDES: '' });
  const hogs = Array.from({ length: 200 }, (_, number) => ask(`2001:db8:17:${number.toString(16)}::1`, 1 + number));
  const newcomer = ask('2001:db8:18::1', 300, 'avif');
  expect((await newcomer).status).toBe(200);
  const statuses = (await Promise.all(hogs)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(100);
  expect(statuses).toContain(200);
});
