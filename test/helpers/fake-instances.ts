import type { IncomingMessage, RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';
import { type Front, findNginx, startFront } from './front.ts';

/* A test file's nginx, with three small servers in place of instances of the service. */

const hasNginx = findNginx();
export const describeWithNginx = describe.skipIf(!hasNginx);

/** @param handler for each test of the file, unless the test sets another */
export function useFakeInstances(handler: RequestListener = (_request, response) => response.end()) {
  const instances = {
    /** In the order of deploy/nginx.conf. Set when the tests begin. */
    servers: [] as readonly FakeUpstream[],
    /** The requests of the current test, oldest first. */
    received: [] as { readonly instance: number; readonly request: IncomingMessage }[],
    /** How all of them answer. A test may replace it. */
    handler,
  };
  const start = (instance: number) =>
    startFakeUpstream((request, response) => {
      instances.received.push({ instance, request });
      instances.handler(request, response);
    });
  beforeAll(async () => {
    instances.servers = await Promise.all([start(0), start(1), start(2)]);
  });
  beforeEach(() => {
    instances.received.length = 0;
    instances.handler = handler;
  });
  afterAll(() => Promise.all(instances.servers.map(({ close }) => close())));
  return instances;
}

/** An nginx for all tests of the file. Its properties are set when the tests begin. */
export function useFront(instances: ReturnType<typeof useFakeInstances>, hasBaseUrl = false): Front {
  const front = {} as Front;
  beforeAll(async () => {
    if (!hasNginx) return;
    const ports = instances.servers.map(({ origin }) => Number(new URL(origin).port));
    Object.assign(front, await startFront(ports, hasBaseUrl));
  });
  afterAll(() => front.stop?.());
  return front;
}
