import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createHttpClient, type HttpClient } from '../../src/lib/http/http-client.ts';
import { findFreePort } from './process.ts';

export type FakeUpstream = Awaited<ReturnType<typeof startFakeUpstream>>;

/**
 * An HTTP server on a socket of this machine that responds as the test says.
 *
 * @param port by default a free one
 */
export async function startFakeUpstream(listener: RequestListener = respondWithJson({}), port = 0) {
  let current = listener;
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    current(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Replaces the listener from the next request on. */
    response(next: RequestListener) {
      current = next;
    },
    /** The targets of the requests so far, in order. */
    requests: requests as readonly string[],
    /** Connections that are open now. */
    openSockets: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An origin where nothing listens. */
export const findRefusingOrigin = async () => `http://127.0.0.1:${await findFreePort()}`;

/** A client whose sockets the upstream closes at its end. */
export const createTestClient = (clock: Clock): HttpClient => createHttpClient({ userAgent: 'pennant-test', clock });

/** The body is sent in chunks unless a header names its length. */
export function respondWithStatus(
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
): RequestListener {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

export function respondWithJson(body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener {
  return respondWithStatus(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
}

/** A consent, "sorry" or captcha page. */
export const respondWithHtml = (status = 200) =>
  respondWithStatus(status, { 'content-type': 'text/html; charset=utf-8' }, '<html>Before you continue</html>');

export const respondWithBytes = (body: Buffer, headers: Record<string, string> = {}) =>
  respondWithStatus(200, { 'content-length': String(body.length), ...headers }, body);

export const redirectTo = (location: string) => respondWithStatus(302, { location });

const GZIP = { 'content-encoding': 'gzip' };

/** Every way to give no usable response. */
export const FAULTS = {
  resetBeforeResponse: (request: IncomingMessage) => void request.socket.resetAndDestroy(),
  hangBeforeHeaders: () => undefined,
  hangMidBody: (_request, response) => sendPart(response),
  resetMidBody: (request, response) => {
    sendPart(response);
    setImmediate(() => request.socket.resetAndDestroy());
  },
  closeMidBody: (request, response) => {
    sendPart(response);
    setImmediate(() => request.socket.end());
  },
  closeMidChunk: (request) =>
    void request.socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"a"'),
  slowDrip: (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  },
  endlessBody: (_request, response) => {
    response.writeHead(200);
    const fill = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
    };
    response.on('drain', fill);
    fill();
  },
  garbage: (request) => void request.socket.end('this is not HTTP at all\r\n\r\n'),
  gzipBomb: respondWithBytes(gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 }), GZIP),
  cutGzip: respondWithBytes(gzipSync('a body that is cut off').subarray(0, 25), GZIP),
  falseGzip: respondWithBytes(Buffer.from('this was never compressed'), GZIP),
  unknownEncoding: respondWithBytes(Buffer.from('{}'), { 'content-encoding': 'zstd' }),
} satisfies Record<string, RequestListener>;

type FaultName = keyof typeof FAULTS;

const OTHER_CODES: Partial<Record<FaultName, ErrorCode>> = {
  resetBeforeResponse: 'upstream_unavailable',
  hangBeforeHeaders: 'upstream_timeout',
  hangMidBody: 'upstream_timeout',
  slowDrip: 'upstream_timeout',
};

/** Each fault with the error code of a call that meets it, as rows for `test.each`. */
export const EVERY_FAULT = (Object.keys(FAULTS) as FaultName[]).map(
  (fault) => [fault, OTHER_CODES[fault] ?? 'upstream_invalid'] as const,
);

function sendPart(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' }).write('{"partial":');
}
