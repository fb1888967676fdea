import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { type Front, findNginx, startFront } from './front.ts';

/* A test file's nginx, with three small servers in place of instances of the service. */

interface FakeInstances {
  /** In the order of deploy/nginx.conf. */
  readonly servers: ReturnType<typeof createServer>[];
  /** The requests of the current test, oldest first. */
  readonly received: { readonly instance: number; readonly request: IncomingMessage }[];
  /** How all of them answer. A test may replace it. */
  handler: RequestListener;
}

const hasNginx = findNginx();
export const describeWithNginx = describe.skipIf(!hasNginx);

/** @param handler for each test of the file, unless the test sets another */
export function useFakeInstances(handler: RequestListener = (_request, response) => response.end()): FakeInstances {
  const servers = [0, 1, 2].map((instance) =>
    createServer((request, response) => {
      instances.received.push({ instance, request });
      instances.handler(request, response);
    }),
  );
  const instances: FakeInstances = { servers, received: [], handler };
  beforeAll(() => Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening'))));
  beforeEach(() => {
    instances.received.length = 0;
    instances.handler = handler;
  });
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  return instances;
}

/** An nginx for all tests of the file. Its properties are set when the tests begin. */
export function useFront({ servers }: FakeInstances, hasBaseUrl = false): Front {
  const front = {} as Front;
  beforeAll(async () => {
    if (!hasNginx) return;
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    Object.assign(front, await startFront({ instancePorts: ports as [number, number, number], hasBaseUrl }));
  });
  afterAll(() => front.stop?.());
  return front;
}

/** An answer that no cache may keep unless it is allowed to. */
export function answerJson(status: number, cacheControl: string): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': cacheControl });
    response.end('{}');
  };
}
