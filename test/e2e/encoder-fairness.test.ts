import { expect, it } from 'vitest';
import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';
import { startForTest } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

const env = { TRUST_PROXY: '127.0.0.0/8', RATE_LIMIT_OVERRIDES: '' };

it('a client that requests one expensive image gets it while 200 clients of one network request a cheap one each', async () => {
  const encoder = createEncoder({ processes: 1, queueLength: 6, clock: createManualClock() });
  // Encodes wait in front of the queue until all have arrived.
  const gate = Promise.withResolvers<void>();
  let arrived = 0;
  const encode: Encoder['encode'] = async (job, signal) => {
    arrived += 1;
    if (arrived === 201) gate.resolve();
    await gate.promise;
    return encoder.encode(job, signal);
  };
  const service = await startForTest({ env, encoder: { ...encoder, encode } });
  const statusOf = async (client: string, image: string) =>
    (await service.get(`/UCPennantSample00000001A/avatar.${image}`, { 'x-forwarded-for': client })).status;

  const hogs = Array.from({ length: 200 }, (_, at) =>
    statusOf(`2001:db8:17:${at.toString(16)}::1`, `png?width=${at + 1}`),
  );
  expect(await statusOf('2001:db8:18::1', 'avif?width=300')).toBe(200);
  const statuses = await Promise.all(hogs);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(100);
  expect(statuses).toContain(200);
});

it('six originals are loaded at a time, and then one of another network', async () => {
  const loads: { key: string; end: () => void }[] = [];
  const download = ({ key }: { readonly key: string }) =>
    new Promise<Buffer>((resolve) => loads.push({ key, end: () => resolve(Buffer.from(key)) }));
  const sources = [numberedSource()];
  const service = await startForTest({ env, encoder: createFakeEncoder(), sources, downloader: { download } });
  const statusOf = async (client: string, channel: number) =>
    (await service.get(`/${numberedChannelId(channel)}/avatar.png`, { 'x-forwarded-for': client })).status;
  const waiting = () => service.metric('pennant_waiting_originals_entries');

  const images = Array.from({ length: 8 }, (_, at) => statusOf(`192.0.2.${at}`, at));
  await expect.poll(waiting).toBe(2);
  images.push(statusOf('198.51.100.1', 99));
  await expect.poll(waiting).toBe(3);
  expect(loads).toHaveLength(6);
  for (let ended = 0; ended < images.length; ended += 1) {
    await expect.poll(() => loads.length).toBeGreaterThan(ended);
    loads[ended]?.end();
  }
  expect(new Set(await Promise.all(images))).toEqual(new Set([200]));
  expect(loads[6]?.key).toBe(numberedChannelId(99));
});
