import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { openConnection, type RawResponse, readResponses } from '../helpers/raw-http.ts';

/*
 * What one client's bytes make the service do after a refusal, and that other clients on a proxy's connection are not
 * affected.
 */

const BEHIND_PROXY = { TRUST_PROXY: '127.0.0.0/8', BASE_URL: 'https://pennant.example' };
const GET = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
const LIMIT = 10;
const MEBIBYTE = 1024 * 1024;

async function start(env: Record<string, string> = {}): Promise<{ service: TestApp; port: number }> {
  const service = await startForTest({ env: { RATE_LIMIT_OVERRIDES: '', ...env } });
  return { service, port: await service.listen() };
}

const statusesOf = (responses: readonly RawResponse[]) => responses.map(({ status }) => status);
const ADMITTED = Array.from({ length: LIMIT }, () => 200);

/** Requests that were served, or refused one by one. */
async function countRequests(service: TestApp): Promise<number> {
  const metrics = readMetrics((await service.console('/metrics')).text);
  const series = [...metrics].filter(([name]) => name.startsWith('pennant_http_requests_total{'));
  return series.reduce((sum, [, count]) => sum + count, 0);
}

/** Sends `more` again and again until the service closes. @returns the service's end of the connection, and what it sent */
async function sendOnAndOn(service: TestApp, port: number, head: string, more: string) {
  const accepting = once(service.app.http.server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  let text = '';
  client
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk;
    });
  const [socket] = await accepting;
  const bytes = Buffer.from(more.repeat(10_000));
  const closed = once(socket, 'close');
  client.write(head);
  const sendOn = () => {
    while (!socket.closed && client.writable && client.write(bytes));
  };
  client.on('drain', sendOn);
  sendOn();
  await closed;
  return { socket, text };
}

test('a 429 keeps the connection of a proxy for its other clients', async () => {
  const { port } = await start(BEHIND_PROXY);
  const from = (client: number, more = '') =>
    GET.replace('\r\n\r\n', `\r\nX-Forwarded-For: 192.0.2.${client}${more}\r\n\r\n`);
  const connection = await openConnection(port);
  for (let sent = 0; sent < LIMIT; sent += 1) await connection.ask(from(1));
  expect((await connection.ask(from(1))).status).toBe(429);
  expect((await connection.ask(from(2))).status).toBe(200);
  connection.close();
  const both = await readResponses(port, from(1) + from(2) + from(3, '\r\nConnection: close'));
  expect(statusesOf(both)).toEqual([429, 200, 200]);
});

test('a client that sends on without end is closed, and what it sends is not read', async () => {
  const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
  const CHUNK = '1\r\nx\r\n';
  const cases: [statuses: number[], head: string, more: string, env: Record<string, string>][] = [
    [[...ADMITTED, 429], '', GET, {}],
    [[405], POST + CHUNKED, CHUNK, BEHIND_PROXY],
    [[200], GET.slice(0, -2) + CHUNKED, CHUNK, {}],
  ];
  // At the same time, because a closing connection stays open for a second.
  await Promise.all(
    cases.map(async ([statuses, head, more, env]) => {
      const { service, port } = await start(env);
      const { socket, text } = await sendOnAndOn(service, port, head, more);
      expect(text.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(statuses.map((status) => `HTTP/1.1 ${status}`));
      expect(await countRequests(service)).toBe(statuses.length);
      expect(socket.bytesRead).toBeLessThan(MEBIBYTE);
    }),
  );
});
