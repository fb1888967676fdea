import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpSender } from '../helpers/http-request.ts';
import { type ServiceProcess, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const MAX_FILES = 200;
/** Connections of clients, with so few files. */
const PLACES = 100;
const IDLE_CONNECTIONS = 400;

/** With a connection of its own. */
const statusOf = async (url: string) => (await fetch(url, { headers: { connection: 'close' } })).status;

test.each([
  ['public', ({ port }: ServiceProcess) => port],
  ['private', ({ inside }: ServiceProcess) => Number(new URL(inside).port)],
])('idle connections to the %s listener use up neither files nor the places of others', async (_which, portOf) => {
  const directory = await createTemporaryDirectory();
  const service = await startServiceForTest({ directory, prefix: ['prlimit', `--nofile=${MAX_FILES}`] });
  const sockets: Socket[] = [];
  const sender = createHttpSender(service.port);
  onTestFinished(() => {
    sender.close();
    for (const socket of sockets) socket.destroy();
  });
  // Its connection is kept.
  expect((await sender.send({ url: '/problems' })).status).toBe(200);
  for (let number = 0; number < IDLE_CONNECTIONS; number += 1) {
    const socket = connect({ port: portOf(service), host: '127.0.0.1', localAddress: '127.0.0.3' });
    sockets.push(socket.on('error', () => undefined));
    await once(socket, 'connect');
  }
  await service.printed(/maxConnections/);
  expect((await sender.send({ url: '/openapi.json' })).status).toBe(200);
  // The first image needs files for an encoder process.
  let width = 76;
  async function statusOfNewImage(): Promise<number> {
    width += 1;
    return (await sender.send({ url: `/UCPennantSample00000001A/avatar.webp?width=${width}` })).status;
  }
  await expect.poll(statusOfNewImage).toBe(200);
  for (let number = 0; number < 20; number += 1) {
    expect([await statusOf(service.base), await statusOf(`${service.inside}/healthz`)]).toEqual([200, 200]);
  }
  expect(service.output().match(/maxConnections/g)).toHaveLength(1);
});

test('connections that have got their 429, and that their clients do not close, take no place of others', async () => {
  const directory = await createTemporaryDirectory();
  const env = { RATE_LIMIT: '1/60', RATE_LIMIT_OVERRIDES: '127.0.99.1/32=unlimited' };
  const service = await startServiceForTest({ directory, env, prefix: ['prlimit', `--nofile=${MAX_FILES}`] });
  const attackers = Array.from({ length: 8 }, (_, at) => `127.0.${at + 1}.1`);
  const other = '127.0.99.1';

  /** Sends a request on a connection of its own, and waits until the service has closed its side. */
  async function ask(localAddress: string): Promise<string> {
    const socket = connect({ port: service.port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    const ended = Promise.race([once(socket, 'end'), once(socket, 'close')]);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.write('GET /problems HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await ended;
    return text.split('\r\n', 1)[0] ?? '';
  }

  // Each uses up its limit, then all places.
  for (const attacker of attackers) expect(await ask(attacker)).toBe('HTTP/1.1 200 OK');
  const held = Array.from({ length: PLACES }, (_, at) => ask(attackers[at % attackers.length] as string));
  expect(new Set(await Promise.all(held))).toEqual(new Set(['HTTP/1.1 429 Too Many Requests']));
  for (let number = 0; number < 10; number += 1) expect(await ask(other)).toBe('HTTP/1.1 200 OK');
});
