import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startForTest, type TestApp, type TestAppOptions, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, type HeldSource } from '../helpers/fake-source.ts';
import { openConnection, readResponses, readUntilClosed } from '../helpers/raw-http.ts';

const SAMPLE = 'UCPennantSample00000001A';

/** For tests that do not stop it. */
const shared = useTestApp({ encoder: createFakeEncoder() });
let sharedPort: number;
beforeAll(async () => {
  sharedPort = await shared.listen();
});

interface Listening {
  readonly service: TestApp;
  readonly port: number;
}

async function start(options: TestAppOptions = {}): Promise<Listening> {
  const service = await startForTest(options);
  return { service, port: await service.listen() };
}

async function startHeld(): Promise<Listening & { source: HeldSource }> {
  const source = createHeldSource();
  return { ...(await start({ sources: [source] })), source };
}

function get(path: string, ...fields: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n');
}

/** Everything that the connection receives, and its end. */
function record(socket: Socket): { text(): string; readonly closed: Promise<unknown> } {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return { text: () => text, closed: once(socket, 'close') };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const statusLines = (text: string) => text.match(/HTTP\/1\.1 \d{3}/g) ?? [];

describe('time limits of a connection', () => {
  test.each([
    ['the request line', 'GET /'],
    ['any byte', ''],
  ])('end a request that does not arrive in time with a 408, and close the connection: %s', async (_what, begun) => {
    const { server } = shared.app.http;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = await open(sharedPort);
    const received = record(client);
    client.write(begun);
    const [socket] = await accepted;
    // The error that Node reports when a limit is exceeded. Its timers use real time only.
    server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    await received.closed;
    expect(statusLines(received.text())).toEqual(['HTTP/1.1 408']);
    expect(received.text()).toContain('"code":"request_timeout"');
    expect(received.text()).toContain('\r\nconnection: close\r\n');
  });
});

describe('a connection', () => {
  test('stays open after a response and announces for how long', async () => {
    const connection = await openConnection(sharedPort);
    const first = await connection.ask(get('/problems'));
    expect(first.headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=80' });
    expect((await connection.ask(get(`/channel/${SAMPLE}`))).status).toBe(200);
    expect((await connection.ask(get('/nowhere'))).status).toBe(404);
    expect((await connection.ask(get('/'))).status).toBe(200);
    connection.close();
  });

  test.each([
    ['Connection: close', get('/', 'Connection: close')],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
  ])('closes after the response when the client asks for it: %s', async (_what, bytes) => {
    const text = await readUntilClosed(sharedPort, bytes);
    expect(statusLines(text)).toEqual(['HTTP/1.1 200']);
    expect(text.toLowerCase()).toContain('\r\nconnection: close\r\n');
  });

  test('gets pipelined responses in the order of the requests, even if the first one takes longest', async () => {
    const { port, source } = await startHeld();
    const held = source.hold();
    const client = await open(port);
    const received = record(client);
    client.write(get(`/channel/${HELD_CHANNEL_ID}`) + get('/problems', 'Connection: close'));
    await held.asked;
    // A response on another connection proves that the second request has been served.
    await readResponses(port, get('/', 'Connection: close'));
    expect(received.text()).toBe('');
    held.release();
    await received.closed;
    expect(statusLines(received.text())).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(received.text().indexOf('"channelId"')).toBeLessThan(received.text().indexOf('"problems"'));
  });

  test('gets 100 Continue before a response that waits behind another one', async () => {
    const expecting = get('/favicon.ico', 'Expect: 100-continue', 'Content-Length: 2');
    const requests = `${get('/favicon.ico')}${expecting}ab${get('/favicon.ico', 'Connection: close')}`;
    const responses = await readResponses(sharedPort, requests);
    const [{ body } = { body: '' }] = responses;
    expect(responses).toMatchObject([
      { status: 200 },
      { status: 100, body: '' },
      { status: 200, body },
      { status: 200, body },
    ]);
  });
});

describe('HEAD', () => {
  test.each([
    ['a record', `/channel/${SAMPLE}`],
    ['an image', `/${SAMPLE}/mobile.webp`],
    ['a path without an endpoint', '/nowhere'],
  ])('gets the header fields of GET and no body, and the next request works: %s', async (_what, path) => {
    await readResponses(sharedPort, get(path, 'Connection: close'));
    const [full] = await readResponses(sharedPort, get(path, 'Connection: close'));
    const head = get(path).replace('GET', 'HEAD');
    const text = await readUntilClosed(sharedPort, head + get('/nowhere/at/all', 'Connection: close'));
    const [first = '', second = ''] = text.split(/(?=HTTP\/1\.1 \d{3} )/);
    expect([first.split(' ')[1], second.split(' ')[1]]).toEqual([String(full?.status), '404']);
    expect(first.endsWith('\r\n\r\n')).toBe(true);
    const { 'content-length': length, 'content-type': type } = full?.headers ?? {};
    expect(first).toContain(`\r\ncontent-type: ${type}\r\n`);
    expect(first).toContain(`\r\ncontent-length: ${length}\r\n`);
  });
});

describe('a client that disconnects', () => {
  test('does not stop the load: the next request gets its result', async () => {
    const { service, port, source } = await startHeld();
    const held = source.hold();
    const accepted = once(service.app.http.server, 'connection') as Promise<[Socket]>;
    const client = await open(port);
    client.on('error', () => undefined);
    client.write(get(`/channel/${HELD_CHANNEL_ID}`));
    await held.asked;
    const [socket] = await accepted;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    held.release();
    source.title = 'new title';
    const next = await service.get(`/channel/${HELD_CHANNEL_ID}`);
    expect([next.status, next.json().title]).toEqual([200, 'old title']);
  });
});

test.each([
  ['without a byte', '', {}],
  ['with half a header section', 'GET / HTTP/1.1\r\nHost: a\r\nX-', {}],
  ['with half a request after a whole one', `${get('/')}GET /pro`, {}],
  ['with half a body', `${get('/', 'Content-Length: 100')}half`, {}],
  ['of a proxy, with half a header section', 'GET / HTTP/1.1\r\n', { TRUST_PROXY: '127.0.0.1/32' }],
])('a connection %s does not delay a stop', async (_what, bytes, env) => {
  const { service, port } = await start({ env });
  const accepting = once(service.app.http.server, 'connection') as Promise<[Socket]>;
  const client = await open(port);
  const { closed } = record(client);
  const [socket] = await accepting;
  client.write(bytes);
  await expect.poll(() => socket.bytesRead).toBe(bytes.length);
  const anHourMs = 3_600_000;
  await service.app.http.finish(anHourMs, () => undefined);
  await closed;
});
