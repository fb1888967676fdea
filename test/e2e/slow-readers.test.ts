import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const PICTURE = 'GET /UCPennantSample00000001A/tv.png HTTP/1.1\r\nHost: a\r\n\r\n';
/** More than the kernel's buffers of a connection hold. */
const MANY = 40;
const KEEP_ALIVE_MS = { atLeast: 75_000, below: 100_000 };
const PATIENCE_MS = 100_000;

let service: TestApp;
let port: number;
beforeAll(async () => {
  service = await startTestApp();
  port = Number(new URL(await service.app.http.listen({ host: '127.0.0.1', port: 0 })).port);
  await service.get('/UCPennantSample00000001A/tv.png');
});
afterAll(() => service.close());

/** Both ends of a connection on which as many pictures are asked for. */
async function askFor(pictures: number): Promise<{ client: Socket; server: Socket }> {
  const accepted = once(service.app.http.server, 'connection');
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  onTestFinished(() => void client.destroy());
  client.write(PICTURE.repeat(pictures));
  const [server] = (await accepted) as [Socket];
  return { client, server };
}

describe('a client that takes its answers slowly', () => {
  it.each([1, MANY])('has keep-alive’s time once it has taken all %i', async (pictures) => {
    const { client, server } = await askFor(pictures);
    client.resume();
    await expect.poll(() => server.timeout).toBeGreaterThan(KEEP_ALIVE_MS.atLeast);
    await expect.poll(() => server.timeout).toBeLessThan(KEEP_ALIVE_MS.below);
  });

  it('is let go when it takes nothing for 100 s', async () => {
    const { client, server } = await askFor(MANY);
    await expect.poll(() => server.timeout).toBe(PATIENCE_MS);
    // Node's timer of a socket knows no clock but its own.
    server.emit('timeout');
    await once(server, 'close');
    client.resume();
    await once(client, 'close');
  });
});
