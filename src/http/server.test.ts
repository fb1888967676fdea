import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRaw } from '../../test/helpers/raw-http.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { FailureReport } from '../lib/failure-log.ts';
import { createOpenConnections } from '../lib/http/open-connections.ts';
import { createResponseWriter } from '../lib/http/response-writer.ts';
import type { RateLimiter } from '../rate-limit/limiter.ts';
import { createConnections } from './connections.ts';
import { createRateLimitStep } from './request/admission.ts';
import { createClientIdentification } from './request/client-identification.ts';
import { createMicroCache } from './response/micro-cache.ts';
import { createResponseReporter } from './response/response-reporter.ts';
import { createPublicListener } from './server.ts';

/** Starts a listener with this rate limiter. Returns its port and the failures that it reports. */
async function startWithLimiter(hit: RateLimiter['hit']): Promise<{ port: number; failures: unknown[] }> {
  const failures: unknown[] = [];
  const runtime = createTestRuntime();
  const failureLog = {
    ...runtime.failureLog,
    report({ fields }: FailureReport) {
      const { status, code, err } = fields as Readonly<Record<string, unknown>>;
      failures.push({ status, code, cause: err });
      return true;
    },
  };
  const defaultLimit = { requests: 10, windowMs: 30_000 };
  const clients = createClientIdentification({
    trustedProxies: [],
    ipv6PrefixBits: 64,
    defaultLimit,
    limitOverrides: [],
  });
  const openConnections = createOpenConnections({
    maxConnections: 100,
    maxConnectionsPerNetwork: 100,
    onClosed: () => undefined,
  });
  const listener = createPublicListener({
    ...{ runtime, clients, endpoints: [], baseUrls: [] },
    connections: createConnections({ clients, openConnections, defaultLimit }),
    rateLimit: createRateLimitStep({ limiter: { hit }, contact: undefined }),
    microCache: createMicroCache({ runtime }),
    responseWriter: createResponseWriter({ runtime }),
    reporter: createResponseReporter({
      runtime: { ...runtime, failureLog },
      refusedRequests: { note: () => undefined },
      ...{ endpoints: [], logsAll: false },
    }),
  });
  await listener.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => listener.close());
  return { port: (listener.server.address() as AddressInfo).port, failures };
}

const broken = new Error('the limiter has a bug');

describe('a bug of the rate limiter', () => {
  it.each([
    ['a rejection', async () => Promise.reject(broken)],
    [
      'an exception',
      () => {
        throw broken;
      },
    ],
  ] satisfies [string, RateLimiter['hit']][])(
    'leads, as %s, to a 500 for requests, tunnels and garbage, and is reported',
    async (_what, hit) => {
      const { port, failures } = await startWithLimiter(hit);
      const requests = [
        'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
        'hello there\r\n\r\n',
      ];
      for (const bytes of requests) {
        const { status, body, headers } = await sendRaw(port, bytes);
        expect([status, JSON.parse(body).code, headers['content-type']]).toEqual([
          500,
          'internal',
          'application/problem+json',
        ]);
        expect(body).not.toContain(broken.message);
      }
      expect(failures).toEqual(requests.map(() => ({ status: 500, code: 'internal', cause: broken })));
    },
  );
});
