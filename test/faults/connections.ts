import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { residentBytes } from '../helpers/process.ts';
import { comesTrue, type FaultContext, type FaultService, metricsOf, metricValue, type Subject } from './context.ts';
import { makeMemoryGroup } from './memory-group.ts';
import { boundLatency, HOT_URLS, startConnectingProbe, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import type { Outcome } from './report.ts';
import { countDescriptors } from './service-checks.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The limit in every manifest. It bounds the number of connections too. */
const GROUP_BYTES = 1024 * MIB;
/** Opened from one address, which may have a few more. */
const BATCH = 100;
const ADMITTED = 10;

const OTHERS = { what: "another client's longest wait", share: 1, limitMs: 1_000 };
/** For each connection, and for a start of the load. */
const MAX_CPU_SECONDS = { perConnection: 0.004, once: 2 };
const MAX_LEFT_DESCRIPTORS = 10;
const CLOSING_MS = 20_000;
const HELD_MS = 1_000;

const GET = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n';
const UNFINISHED = `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(64 * KIB)}`;
const LARGE_IMAGE = 'GET /UCPennantSample00000001A/tv.png HTTP/1.1\r\nHost: a\r\n\r\n';
const TUNNEL = 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n';
const POST_IN_CHUNKS = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK_OF_ONE_BYTE = '1\r\nx\r\n';

interface ConnectionAttack {
  readonly name: string;
  readonly connections: number;
  /** The client of each batch of connections. */
  readonly addressOf: (batch: number) => string;
  /** What each connection sends. */
  readonly bytes: string;
  readonly maxGrowthBytes: number;
  /** Default: the client reads the responses. */
  readonly isReading?: boolean;
  /** The bytes are no whole request, so the connections wait instead of being refused. */
  readonly isWaiting?: boolean;
}

/**
 * A few clients against all others, over many connections: what they send after a refusal costs next to nothing, and
 * connections that only wait do not keep the places and the memory of others.
 */
export const connections: Subject = {
  name: 'connections',
  needsQuiet: true,
  async run(context) {
    for (const attack of attacksOf(context)) {
      const group = makeMemoryGroup(GROUP_BYTES);
      const enter = group?.enter ?? [];
      try {
        await context.measure('connections', attack.name, () => attackOnce(context, attack, enter));
      } finally {
        await context.cleanUpServices();
        await comesTrue(() => group?.remove() ?? true, 5_000);
      }
    }
  },
};

const oneAddress = () => '127.0.3.1';
const oneNetwork = (batch: number) => `127.0.3.${1 + (batch % 254)}`;
const anotherNetwork = (batch: number) => `127.0.${3 + batch}.1`;

function attacksOf({ isLong }: FaultContext): readonly ConnectionAttack[] {
  const [many, most] = isLong ? [1_200, 9_000] : [400, 3_000];
  return [
    {
      name: '300 connections with pipelines of 2,500 requests',
      connections: 300,
      addressOf: anotherNetwork,
      bytes: pipelineOf(64 * KIB),
      maxGrowthBytes: 140 * MIB,
    },
    {
      name: `${many} connections with 512 KiB of requests`,
      connections: many,
      addressOf: anotherNetwork,
      bytes: pipelineOf(512 * KIB),
      isReading: false,
      maxGrowthBytes: (isLong ? 364 : 164) * MIB,
    },
    {
      name: '200 connections with bodies in chunks of one byte',
      connections: 200,
      addressOf: anotherNetwork,
      bytes: POST_IN_CHUNKS + CHUNK_OF_ONE_BYTE.repeat(10_000),
      maxGrowthBytes: 114 * MIB,
    },
    {
      name: '400 connections that never finish their header',
      connections: 400,
      addressOf: anotherNetwork,
      bytes: 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ',
      maxGrowthBytes: 64 * MIB,
    },
    {
      name: '400 tunnels',
      connections: 400,
      addressOf: anotherNetwork,
      bytes: TUNNEL,
      maxGrowthBytes: 64 * MIB,
    },
    {
      name: '200 readers that do not read their image',
      connections: 200,
      addressOf: () => '127.0.0.1',
      bytes: LARGE_IMAGE,
      isReading: false,
      isWaiting: true,
      maxGrowthBytes: 128 * MIB,
    },
    {
      name: `${most} connections of one address with 64 KB of an unfinished header`,
      connections: most,
      addressOf: oneAddress,
      bytes: UNFINISHED,
      isWaiting: true,
      maxGrowthBytes: 128 * MIB,
    },
    {
      name: `${most} such connections of 254 addresses`,
      connections: most,
      addressOf: oneNetwork,
      bytes: UNFINISHED,
      isWaiting: true,
      maxGrowthBytes: 400 * MIB,
    },
  ];
}

function pipelineOf(bytes: number): string {
  return GET.repeat(Math.ceil(bytes / GET.length));
}

async function attackOnce(context: FaultContext, attack: ConnectionAttack, enter: readonly string[]): Promise<Outcome> {
  // An attacker's addresses have the default limit.
  const service = await context.start({ prefix: enter, env: { RATE_LIMIT_OVERRIDES: '127.0.0.1/32=unlimited' } });
  for (const url of HOT_URLS) await service.client.send({ url });
  // One bystander keeps its connection; another one needs a new one for each request.
  const bystanders = [startProbe(service), startConnectingProbe(service)] as const;
  await Promise.all(bystanders.map(({ begun }) => begun));
  const before = {
    descriptors: await countDescriptors(service),
    bytes: await residentBytes(service.pid),
    refused: await countRefused(service),
    cpu: await cpuSeconds(service.pid),
  };
  const sockets: Socket[] = [];
  let mostBytes = before.bytes;
  const look = async () => {
    mostBytes = Math.max(mostBytes, await residentBytes(service.pid));
  };

  while (sockets.length < attack.connections) {
    const count = Math.min(BATCH, attack.connections - sockets.length);
    const opened = await openConnections(service.port, count, attack.addressOf(sockets.length / BATCH));
    for (const socket of opened) sendTo(socket, attack);
    sockets.push(...opened);
    await look();
  }
  const hasEnded = async () => {
    await look();
    const isRefused = (await countRefused(service)) - before.refused >= attack.connections;
    // A client that does not read cannot see the end of its connection.
    if (attack.isReading !== false) return isRefused && sockets.every(({ closed }) => closed);
    return isRefused && (await countDescriptors(service)) <= before.descriptors + MAX_LEFT_DESCRIPTORS;
  };
  if (attack.isWaiting) await sleep(HELD_MS);
  const isOver = attack.isWaiting || (await comesTrue(hasEnded, CLOSING_MS));
  await look();
  const usedCpu = (await cpuSeconds(service.pid)) - before.cpu;
  const [keeping, connecting] = await Promise.all([bystanders[0].stop(), bystanders[1].stop()]);
  const refused = (await countRefused(service)) - before.refused;
  const entries = metricValue(await metricsOf(service), 'pennant_connections_entries');
  for (const socket of sockets) socket.destroy();

  const faults = [...keeping.faults, ...connecting.faults].map((fault) => `another client: ${fault}`);
  if (!isOver) faults.push('the connections were not closed');
  const admitted = Math.ceil(attack.connections / BATCH) * ADMITTED;
  if (refused > attack.connections + admitted) faults.push(`${refused} requests were looked at`);
  const latency = boundLatency(keeping, OTHERS);
  const connectingMs = Math.max(...connecting.latenciesMs);
  const growth = mostBytes - before.bytes;
  const memory = `memory +${Math.round(growth / MIB)} MiB`;
  const cpuTime = `${usedCpu.toFixed(1)} s of CPU with the others' requests`;
  const isBusy = usedCpu > MAX_CPU_SECONDS.once + MAX_CPU_SECONDS.perConnection * attack.connections;
  return {
    measured: `${refused} refused one by one, ${entries} connections left; ${latency.measured}, a new connection at most ${connectingMs.toFixed(0)} ms; ${cpuTime}; ${memory}`,
    faults,
    exceeded: [...latency.exceeded, ...(isBusy ? [cpuTime] : []), ...(growth > attack.maxGrowthBytes ? [memory] : [])],
  };
}

function sendTo(socket: Socket, { bytes, isReading = true }: ConnectionAttack): void {
  if (isReading) socket.resume();
  else socket.pause();
  socket.write(bytes);
}

/** Requests with a 4xx. */
async function countRefused(service: FaultService): Promise<number> {
  const series = [...readMetrics(await metricsOf(service))];
  return series
    .filter(([name]) => /^pennant_http_requests_total\{.*status="4\d\d"/.test(name))
    .reduce((sum, [, count]) => sum + count, 0);
}
