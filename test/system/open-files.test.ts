import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpSender } from '../helpers/http-request.ts';
import { type ServiceProcess, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const MAX_FILES = 200;
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
  const cold = ['/UCPennantSample00000001A/avatar.webp?width=77', '/openapi.json', '/UCPennantSample00000001A/tv.jpg'];
  for (const url of cold) expect([url, (await sender.send({ url })).status]).toEqual([url, 200]);
  for (let number = 0; number < 20; number += 1) {
    expect([await statusOf(service.base), await statusOf(`${service.inside}/healthz`)]).toEqual([200, 200]);
  }
  expect(service.output().match(/maxConnections/g)).toHaveLength(1);
});
