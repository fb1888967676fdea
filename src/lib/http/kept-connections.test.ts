import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHttpClient } from './http-client.ts';

/** Sends two requests with the idle time between them. Returns the number of connections that they came on. */
async function countConnections(idleMs: number, headers: Record<string, string>): Promise<number> {
  // The HTTP library takes no clock, so its timers are replaced.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const connections = new Set<Socket>();
  // A Node server names five seconds by default.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    connections.add(request.socket);
    response.writeHead(200, headers).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createHttpClient({ isAllowed: () => true, followRedirects: false, userAgent: 'pennant-test' });
  onTestFinished(async () => {
    await client.close();
    server.close();
    vi.useRealTimers();
  });
  const { signal } = new AbortController();
  const send = () => client.request({ method: 'GET', url, timeoutMs: 600_000, maxBytes: 100, signal });
  await send();
  // The library uses a connection again from the next turn of the event loop on.
  await nextTurn();
  vi.advanceTimersByTime(idleMs);
  await send();
  return connections.size;
}

test('a connection is kept for a minute for the next request', async () => {
  expect(await countConnections(58_000, {})).toBe(1);
  expect(await countConnections(65_000, {})).toBe(2);
});

test('a connection is kept at most as long as the upstream allows', async () => {
  expect(await countConnections(10_000, { 'keep-alive': 'timeout=30' })).toBe(1);
  expect(await countConnections(35_000, { 'keep-alive': 'timeout=30' })).toBe(2);
});
