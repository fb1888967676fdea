import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpSender } from '../helpers/http-request.ts';
import { startService } from '../helpers/process.ts';

const MAX_FILES = 200;
const IDLE_CONNECTIONS = 400;

test('idle connections do not use up the files that the service needs itself', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-files-'));
  const service = await startService({ directory, prefix: ['prlimit', `--nofile=${MAX_FILES}`] });
  const sockets: Socket[] = [];
  const sender = createHttpSender(service.port);
  onTestFinished(async () => {
    sender.close();
    for (const socket of sockets) socket.destroy();
    service.child.kill('SIGKILL');
    await service.ended;
    await rm(directory, { recursive: true, force: true });
  });
  // Its connection is kept.
  expect((await sender.send({ url: '/problems' })).status).toBe(200);
  for (let number = 0; number < IDLE_CONNECTIONS; number += 1) {
    const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await service.printed(/maxConnections/);
  expect((await fetch(`${service.inside}/healthz`)).status).toBe(200);
  const cold = ['/UCPennantSample00000001A/avatar.webp?width=77', '/openapi.json', '/UCPennantSample00000001A/tv.jpg'];
  for (const url of cold) expect([url, (await sender.send({ url })).status]).toEqual([url, 200]);
  const refusals = service.output().match(/maxConnections/g);
  expect(refusals).toHaveLength(1);
});
