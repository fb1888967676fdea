import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { createEpochs } from '../../lib/epoch.ts';
import { createHolders } from '../../lib/holders.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { createClientIdentification } from '../request/client.ts';
import { createHttpServer, type HttpServerOptions } from '../server.ts';

function readJson(path: string) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
}

/** The URL patterns of all endpoints in OpenAPI's notation. */
function servedPaths(): string[] {
  const metrics = createMetrics();
  createHttpServer({
    epochs: createEpochs(),
    clients: createClientIdentification({
      trustedProxies: [],
      ipv6PrefixBits: 64,
      defaultLimit: { requests: 10, windowMs: 30_000 },
      limitOverrides: [],
    }),
    baseUrls: [],
    clock: createManualClock(),
    holders: createHolders(),
    metrics,
  } as unknown as HttpServerOptions);
  const routes = new Set(metrics.samples('pennant_http_requests_total').map(({ labels }) => String(labels.route)));
  return [...routes].filter((route) => route.startsWith('/')).map((url) => url.replaceAll(/:(\w+)/g, '{$1}'));
}

test('the document has every path that is served, and no others', () => {
  const { paths } = readJson('openapi.json');
  expect(Object.keys(paths).sort()).toEqual(servedPaths().sort());
});
