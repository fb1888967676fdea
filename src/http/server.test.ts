import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { sendRaw } from '../../test/helpers/raw-http.ts';
import { createEpochs } from '../lib/epoch.ts';
import type { FailureReport } from '../lib/failure-log.ts';
import { createHolders } from '../lib/holders.ts';
import { createOpenConnections } from '../lib/http/open-connections.ts';
import { createResponseWriter } from '../lib/http/response-writer.ts';
import { createMetrics } from '../lib/metrics/metrics.ts';
import type { RateLimiter } from '../rate-limit/limiter.ts';
import { createClientIdentification } from './request/client.ts';
import { createHttpServer, type HttpServerOptions } from './server.ts';

/** A listener whose rate limit fails, and what it reports. */
async function startWithBrokenLimit(hit: RateLimiter['hit']): Promise<{ port: number; failures: unknown[] }> {
  const failures: unknown[] = [];
  const [clock, holders, metrics] = [createManualClock(), createHolders(), createMetrics()];
  const listener = createHttpServer({
    epochs: createEpochs(),
    limiter: { hit },
    clients: createClientIdentification({
      trustedProxies: [],
      ipv6PrefixBits: 64,
      defaultLimit: { requests: 10, windowMs: 30_000 },
      limitOverrides: [],
    }),
    baseUrls: [],
    unservedRequests: { note: () => undefined },
    openConnections: createOpenConnections({ maxConnections: 100, onClosed: () => undefined }),
    ...{ clock, holders, metrics },
    responseWriter: createResponseWriter({ runtime: { clock, holders, metrics } }),
    failureLog: {
      report({ fields }: FailureReport) {
        const { status, code, err } = fields as Readonly<Record<string, unknown>>;
        failures.push({ status, code, cause: err });
        return true;
      },
    },
  } as unknown as HttpServerOptions);
  await listener.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => listener.close());
  return { port: (listener.server.address() as AddressInfo).port, failures };
}

const broken = new Error('the limiter has a bug');

describe('a rate limit that fails', () => {
  it.each([
    ['rejects', async () => Promise.reject(broken)],
    [
      'throws',
      () => {
        throw broken;
      },
    ],
  ] satisfies [string, RateLimiter['hit']][])(
    'and %s leads to 500 for requests, tunnels and garbage, and is reported',
    async (_what, hit) => {
      const { port, failures } = await startWithBrokenLimit(hit);
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
