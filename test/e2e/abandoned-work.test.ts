import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';

const SAMPLE = 'UCPennantSample00000001A';

test('a picture that nobody waits for any more is dropped before an encoder takes it up', async () => {
  const service = await startTestApp({ env: { ENCODERS: '1' } });
  onTestFinished(() => service.close());
  await service.app.http.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.http.server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/${SAMPLE}/tv.png`;
  const stats = () => service.app.encoderStats();

  const patient = fetch(`${base}?width=2501`);
  await expect.poll(() => stats().running).toBe(1);
  const impatient = new AbortController();
  const abandoned = Array.from({ length: 5 }, (_, index) =>
    fetch(`${base}?width=${2400 + index}`, { signal: impatient.signal }).catch(() => 'gone'),
  );
  const shared = fetch(`${base}?width=2400`);
  await expect.poll(() => stats().queued).toBe(5);
  impatient.abort();
  // One of the five has a second client, who still waits.
  await expect.poll(() => stats().queued).toBeLessThanOrEqual(1);
  expect(await Promise.all(abandoned)).toEqual(abandoned.map(() => 'gone'));
  for (const answer of await Promise.all([patient, shared])) {
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(10_000);
  }
});
