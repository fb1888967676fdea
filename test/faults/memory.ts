import type { ServiceProcess } from '../helpers/process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { type BoundMetrics, readBoundMetrics } from './bound-metrics.ts';
import { comesTrue, type FaultContext, metricsOf, type Subject } from './context.ts';
import { CATALOG_KINDS, type RequestKind, UPSTREAM_KINDS } from './memory-kinds.ts';
import { startNumberedUpstream } from './numbered-upstream.ts';
import type { Outcome } from './report.ts';
import { type StreamedRequest, streamRequests } from './request-stream.ts';
import { watchMemory } from './watch-memory.ts';

const MAX_RESIDENT_BYTES = 400 * 2 ** 20;
/** A kind adds a few series for its statuses. A label from requests would add thousands. */
const MAX_NEW_SERIES = 200;
/** Fewer than the places of the encoder queue, so that no image is refused. */
const CONNECTIONS = 8;
const WRITTEN_MS = 20_000;

/** Bounds that this many requests reach. In the long form, the caches have their default memory. */
const SETTINGS = {
  TRUST_PROXY: '127.0.0.0/8',
  RATE_LIMIT_OVERRIDES: '',
  // Every request comes from another client, except those that must be refused.
  RATE_LIMIT: '1/30',
  UPSTREAM_CALLS_PER_SECOND: '100000',
};
const SHORT_FORM = { MEMORY_CACHE_BYTES: '1MiB', IMAGE_CACHE_BYTES: '6MiB' };
const LONG_FORM = { IMAGE_CACHE_BYTES: '64MiB' };

/** Clients within the limit fill everything that grows with requests, to its bound and no further. */
export const memory: Subject = {
  name: 'memory',
  async run(context) {
    const upstream = await startNumberedUpstream();
    try {
      await Promise.all([
        fill(context, CATALOG_KINDS, {}),
        fill(context, UPSTREAM_KINDS, youtubeSettings(upstream.origin)),
      ]);
    } finally {
      await upstream.close();
    }
  },
};

async function fill(context: FaultContext, kinds: readonly RequestKind[], env: Record<string, string>): Promise<void> {
  const form = context.isLong ? LONG_FORM : SHORT_FORM;
  const service = await context.start({ env: { ...SETTINGS, ...form, ...env } });
  for (const kind of kinds) await context.measure('memory', kind.name, () => sendKind(context, service, kind));
}

/** The requests of all kinds together. Each comes from another client. */
let sent = 0;

async function sendKind({ isLong }: FaultContext, service: ServiceProcess, kind: RequestKind): Promise<Outcome> {
  const count = kind.counts[isLong ? 1 : 0];
  const before = readBoundMetrics(await metricsOf(service));
  const memory = watchMemory(service);
  const responses = await streamRequests(service.port, requestsOf(kind, count), CONNECTIONS);
  const mostBytes = await memory.stop();
  let after = before;
  const findUnfilled = () => Object.entries(kind.fills).filter(([name, share]) => fullnessOf(after, name) < share);
  // Images are written, and replaced by better ones, after their responses.
  await comesTrue(async () => {
    after = readBoundMetrics(await metricsOf(service));
    return findUnfilled().length === 0;
  }, WRITTEN_MS);

  const unexpected = Object.keys(responses).filter((name) => !kind.statuses.includes(Number.parseInt(name, 10)));
  // A busy machine, which is a missed bound.
  const isOverload = (name: string) => name.startsWith('503 overloaded');
  const countOf = (name: string) => `${responses[name]} responses were ${name}`;
  const faults = [
    ...unexpected.filter((name) => !isOverload(name)).map(countOf),
    ...after.gauges
      .filter(({ fullness }) => fullness !== undefined && fullness > 1)
      .map(({ name, fullness }) => `${name} holds ${fullness?.toFixed(2)} of what it may`),
    ...findUnfilled().map(([name]) => `${name} was not filled to its bound`),
  ];
  const newSeries = after.seriesCount - before.seriesCount;
  if (newSeries > MAX_NEW_SERIES) faults.push(`${newSeries} new series of metrics`);
  const filled = Object.keys(kind.fills).map((name) => `${name} ${Math.round(fullnessOf(after, name) * 100)} % full`);
  const mebibytes = `at most ${Math.round(mostBytes / 2 ** 20)} MiB`;
  return {
    measured: [`${count} requests`, ...filled, mebibytes].join(', '),
    faults,
    exceeded: [...unexpected.filter(isOverload).map(countOf), ...(mostBytes > MAX_RESIDENT_BYTES ? [mebibytes] : [])],
  };
}

function* requestsOf(kind: RequestKind, count: number): Generator<StreamedRequest> {
  for (let number = 0; number < count; number += 1) {
    sent += 1;
    const client = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
    const { url, headers } = kind.request(number);
    yield { url, headers: { 'x-forwarded-for': client, ...headers } };
  }
}

function fullnessOf({ gauges }: BoundMetrics, name: string): number {
  return gauges.find((gauge) => gauge.name === name)?.fullness ?? 0;
}
