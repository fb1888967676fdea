import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const PICTURE = 'GET /UCPennantSample00000001A/tv.png HTTP/1.1\r\nHost: a\r\n\r\n';
/** More than the kernel's buffers of a connection can hold. */
const MANY = 40;
const KEEP_ALIVE_MS = { atLeast: 75_000, below: 100_000 };
const PATIENCE_MS = 100_000;

let service: TestApp;
let port: number;
let server: Server;
beforeAll(async () => {
  service = await startTestApp();
  port = await service.listen();
  server = service.app.http.server;
  await service.get('/UCPennantSample00000001A/tv.png');
});
afterAll(() => service.close());

/** Both ends of a connection on which this many pictures are requested. */
async function askFor(pictures: number): Promise<{ client: Socket; socket: Socket }> {
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  onTestFinished(() => void client.destroy());
  client.write(PICTURE.repeat(pictures));
  const [socket] = (await accepted) as [Socket];
  return { client, socket };
}

describe('a client that reads its responses slowly', () => {
  it.each([1, MANY])('has the keep-alive time after it has read all %i', async (pictures) => {
    const { client, socket } = await askFor(pictures);
    client.resume();
    await expect.poll(() => socket.timeout).toBeGreaterThan(KEEP_ALIVE_MS.atLeast);
    await expect.poll(() => socket.timeout).toBeLessThan(KEEP_ALIVE_MS.below);
  });

  it('is disconnected if it reads nothing for 100 s', async () => {
    const { client, socket } = await askFor(MANY);
    await expect.poll(() => socket.timeout).toBe(PATIENCE_MS);
    // Node's socket timers use real time only.
    socket.emit('timeout');
    await once(socket, 'close');
    client.resume();
    await once(client, 'close');
  });
});
