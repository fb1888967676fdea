import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
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

/** Sends one-byte chunks until the service closes. @returns the service's end of the connection */
async function upload(service: TestApp, port: number, head: string): Promise<{ socket: Socket; text: string }> {
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
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  const closed = once(socket, 'close');
  client.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  const sendOn = () => {
    while (!socket.closed && client.writable && client.write(chunks));
  };
  client.on('drain', sendOn);
  sendOn();
  await closed;
  return { socket, text };
}

describe('a client that pipelines on after its first refused request', () => {
  test('gets its ten responses and a 429, and the rest is not looked at', async () => {
    const { service, port } = await start();
    const responses = await readResponses(port, GET.repeat(200));
    expect(statusesOf(responses)).toEqual([...ADMITTED, 429]);
    expect(responses.at(-1)?.headers.connection).toBe('close');
    expect(await countRequests(service)).toBe(LIMIT + 1);
  });

  test('is closed even if it reads nothing', async () => {
    const { service, port } = await start();
    const accepting = once(service.app.http.server, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1').pause();
    client.on('error', () => undefined);
    onTestFinished(() => void client.destroy());
    client.write(GET.repeat(20_000));
    const [socket] = await accepting;
    await once(socket, 'close');
    expect(socket.bytesRead).toBeLessThan(MEBIBYTE);
  });
});

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

test('the body of a refused request is not read, also through a proxy', async () => {
  const { service, port } = await start(BEHIND_PROXY);
  const { socket, text } = await upload(service, port, POST);
  expect(text).toMatch(/^HTTP\/1\.1 405 /);
  expect(text).toMatch(/\r\nconnection: close\r\n/i);
  expect(socket.bytesRead).toBeLessThan(MEBIBYTE);
});

test('a GET with an endless body gets its response, and the connection is closed', async () => {
  const { service, port } = await start();
  const { socket, text } = await upload(service, port, GET.slice(0, -2));
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(socket.bytesRead).toBeLessThan(MEBIBYTE);
});
