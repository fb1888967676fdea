import type { Socket } from 'node:net';
import { cpuSeconds } from '../../bench/processes.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { residentBytes } from '../helpers/process.ts';
import { comesTrue, type FaultContext, type FaultService, metricsOf, type Subject } from './context.ts';
import { boundLatency, HOT_URLS, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import type { Outcome } from './report.ts';
import { countDescriptors } from './service-checks.ts';

/** An attacker's address. The bystander's has no limit. */
const attackerOf = (number: number) => `127.0.0.${3 + number}`;
/** As many as one client may have. */
const CONNECTIONS_EACH = 128;
const ADMITTED = 10;
const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

const OTHERS = { what: "another client's longest wait", share: 1, limitMs: 1_000 };
/** For each refused connection, and for a start of the load. */
const MAX_CPU_SECONDS = { perConnection: 0.003, once: 2 };
const MAX_GROWTH_BYTES = { perConnection: 256 * KIBIBYTE, once: 64 * MEBIBYTE };
/** More than the kernel's buffers of one connection hold. */
const MAX_SENT_BYTES = 32 * MEBIBYTE;
const MAX_LEFT_DESCRIPTORS = 10;
const CLOSING_MS = 20_000;

const GET = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n';
const POST_IN_CHUNKS = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK_OF_ONE_BYTE = '1\r\nx\r\n';
const CHUNK = `10000\r\n${'x'.repeat(64 * KIBIBYTE)}\r\n`;

interface ConnectionFlood {
  readonly name: string;
  readonly connections: number;
  readonly bytes: Buffer;
  readonly isReading?: boolean;
  /** Sends the bytes again and again, until the connection is closed. */
  readonly isEndless?: boolean;
}

/** A few clients against all others, over many connections: what they send after a refusal must cost next to nothing. */
export const connections: Subject = {
  name: 'connections',
  needsQuiet: true,
  async run(context) {
    for (const flood of floodsOf(context)) {
      await context.measure('connections', flood.name, () => floodOnce(context, flood));
    }
  },
};

function floodsOf({ isLong }: FaultContext): ConnectionFlood[] {
  const pipeline = pipelineOf(64 * KIBIBYTE);
  const many = isLong ? 1_200 : 400;
  return [
    ...(isLong ? [10, 100, 300] : [300]).map((count) => ({
      name: `${count} connections with pipelines of 2,500 requests`,
      connections: count,
      bytes: pipeline,
      isReading: true,
    })),
    { name: `${many} connections with 512 KiB of requests`, connections: many, bytes: pipelineOf(512 * KIBIBYTE) },
    {
      name: '200 connections with bodies in chunks of one byte',
      connections: 200,
      bytes: Buffer.from(POST_IN_CHUNKS + CHUNK_OF_ONE_BYTE.repeat(10_000)),
      isReading: true,
    },
    {
      name: 'an endless body of a refused request',
      connections: 1,
      bytes: Buffer.from(POST_IN_CHUNKS + CHUNK),
      isReading: true,
      isEndless: true,
    },
  ];
}

function pipelineOf(bytes: number): Buffer {
  return Buffer.from(GET.repeat(Math.ceil(bytes / GET.length)));
}

async function floodOnce(context: FaultContext, flood: ConnectionFlood): Promise<Outcome> {
  const service = await context.start({ env: { RATE_LIMIT_OVERRIDES: '127.0.0.1/32=unlimited' } });
  for (const url of HOT_URLS) await service.client.send({ url });
  const descriptors = await countDescriptors(service);
  const bytes = await residentBytes(service.pid);
  const requests = await countRefused(service);
  const probe = startProbe(service);
  const cpu = await cpuSeconds(service.pid);

  const sockets: Socket[] = [];
  const attackers = Math.ceil(flood.connections / CONNECTIONS_EACH);
  for (let number = 0; number < attackers; number += 1) {
    const count = Math.min(CONNECTIONS_EACH, flood.connections - sockets.length);
    sockets.push(...(await openConnections(service.port, count, attackerOf(number))));
  }
  for (const socket of sockets) sendTo(socket, flood);
  let mostBytes = 0;
  const areClosed = await comesTrue(async () => {
    mostBytes = Math.max(mostBytes, await residentBytes(service.pid));
    const isRefused = (await countRefused(service)) - requests >= flood.connections;
    // A client that does not read cannot see the end of its connection.
    if (flood.isReading) return isRefused && sockets.every(({ closed }) => closed);
    return isRefused && (await countDescriptors(service)) <= descriptors + MAX_LEFT_DESCRIPTORS;
  }, CLOSING_MS);
  const usedCpu = (await cpuSeconds(service.pid)) - cpu;
  const others = await probe.stop();
  const refused = (await countRefused(service)) - requests;
  const sent = Math.max(...sockets.map(({ bytesWritten, writableLength }) => bytesWritten - writableLength));
  for (const socket of sockets) socket.destroy();
  await context.cleanUpServices();

  const faults = others.faults.map((fault) => `another client: ${fault}`);
  if (!areClosed) faults.push('the connections were not closed');
  if (refused > flood.connections + attackers * ADMITTED) faults.push(`${refused} requests were looked at`);
  if (flood.isEndless && sent > MAX_SENT_BYTES) faults.push(`${sent} bytes of a body were accepted`);
  const latency = boundLatency(others, OTHERS);
  const growth = mostBytes - bytes;
  const most = (bound: { perConnection: number; once: number }) => bound.once + bound.perConnection * flood.connections;
  const measured = `${refused} refused one by one; ${latency.measured}; ${usedCpu.toFixed(1)} s of CPU with the other's requests; memory +${Math.round(growth / MEBIBYTE)} MiB`;
  return {
    measured,
    faults,
    exceeded: [
      ...latency.exceeded,
      ...(usedCpu > most(MAX_CPU_SECONDS) ? [`${usedCpu.toFixed(1)} s of CPU`] : []),
      ...(growth > most(MAX_GROWTH_BYTES) ? [`memory grew by ${Math.round(growth / MEBIBYTE)} MiB`] : []),
    ],
  };
}

function sendTo(socket: Socket, { bytes, isReading, isEndless }: ConnectionFlood): void {
  if (isReading) socket.resume();
  else socket.pause();
  socket.write(bytes);
  if (!isEndless) return;
  const chunk = Buffer.from(CHUNK);
  const sendOn = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', sendOn);
}

/** Requests with a 4xx. */
async function countRefused(service: FaultService): Promise<number> {
  const series = [...readMetrics(await metricsOf(service))];
  return series
    .filter(([name]) => /^pennant_http_requests_total\{.*status="4\d\d"/.test(name))
    .reduce((sum, [, count]) => sum + count, 0);
}
