import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WAIT } from '../helpers/wait.ts';
import { freshImageUrl, startMixedLoad } from './mixed-load.ts';

/** A load on a service that does this with every request. */
async function loadOn(listener: RequestListener) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    listener(request, response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const load = startMixedLoad((server.address() as AddressInfo).port, { clients: 1, removed: ['UCremoved'] });
  onTestFinished(() => load.stop());
  const more = (count: number) => vi.waitFor(() => expect(requests).toBeGreaterThan(count), WAIT);
  return { load, requests: () => requests, more };
}

const refuse: RequestListener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();

test.each<[string, RequestListener]>([
  ['a lost connection', (request) => request.destroy()],
  ['a refusal', refuse],
  ['a 404 for a channel that nobody removed', (_request, response) => response.writeHead(404).end()],
])('%s is a fault of a service under load', async (_what, listener) => {
  const { load, more } = await loadOn(listener);
  await more(3);
  await load.stop();
  expect(load.faults.length).toBeGreaterThan(2);
});

test.each<[string, RequestListener]>([
  ['a lost connection', (request) => request.destroy()],
  ['a refusal', refuse],
])('%s is no fault of a service that ends', async (_what, listener) => {
  const { load, requests, more } = await loadOn(listener);
  load.expectEnd();
  await more(requests() + 3);
  await load.stop();
  expect(load.faults).toEqual([]);
});

test('no image is requested that the samples do not have', () => {
  const urls = Array.from({ length: 500 }, () => freshImageUrl());
  expect(urls.filter((url) => url.includes('UCPennantSample00000002A'))).not.toEqual([]);
  expect(urls.filter((url) => /^\/UCPennantSample00000002A\/(?!avatar)/.test(url))).toEqual([]);
});
