import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { cpuSeconds } from '../../bench/processes.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { residentBytes, type ServiceProcess } from '../helpers/process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { startBannerChannels } from './banner-channels.ts';
import { readBoundMetrics } from './bound-metrics.ts';
import { TRUSTED } from './bystanders.ts';
import { comesTrue, type FaultContext, type FaultService, metricsOf, metricValue, type Subject } from './context.ts';
import { ALONE_MS, boundRatio, startProbe } from './probe.ts';
import { openConnection } from './raw-connections.ts';
import type { Outcome } from './report.ts';

const CHANNEL = 'UCslowreaders00000000000';
/** A banner of noise: at this width, its PNG has some 7.8 MB, more than the kernel's buffers of a connection can hold. */
const WIDTH = 2_260;
const GAUGE = 'unread_responses';
const MIB = 2 ** 20;
/** What waits, and what is garbage until it is collected. */
const MAX_GROWTH_BYTES = 250 * MIB;
/** How much longer others may wait than without the attack, and the CPU time of the service, without its encoders. */
const MAX_WAIT_RATIO = 10;
const MAX_CORES = 0.5;
const PAUSE_MS = 1_000;
const READ_BYTES = 1_024;
const ENCODED_MS = 20_000;

interface SlowRead {
  readonly url: string;
  readonly client: string;
}

interface Attack {
  readonly name: string;
  readonly reads: readonly SlowRead[];
  /** Between two requests. */
  readonly everyMs: number;
  /** Between two reads of a connection. */
  readonly pauseMs: number;
}

/** Readers that request large images and read next to nothing of them. */
export const slowReaders: Subject = {
  name: 'slow-readers',
  needsQuiet: true,
  async run(context) {
    for (const attack of attacksOf(context.isLong)) await measure(context, 'slow-readers', attack);
  },
};

/** Hundreds of different images, and long pauses. */
export function fillWithSlowReaders(context: FaultContext, subject: string): Promise<void> {
  const reads = Array.from({ length: 300 }, (_, at) => ({ url: png(WIDTH - at, at), client: `192.0.2.${at % 30}` }));
  return measure(context, subject, {
    name: 'different large images, of which 1 KB is read each 25 s',
    ...{ reads, everyMs: 400, pauseMs: 25_000 },
  });
}

function attacksOf(isLong: boolean): readonly Attack[] {
  const sizes = isLong ? 100 : 30;
  const inTurn = {
    name: 'two sizes of a large PNG in turn, from one address',
    reads: Array.from({ length: 180 }, (_, at) => ({ url: png(WIDTH + (at % 2), at), client: '192.0.2.1' })),
    everyMs: 150,
    pauseMs: PAUSE_MS,
  };
  return [
    // `test/e2e/slow-readers.test.ts` shows the bound for readers of one image.
    ...(isLong ? [inTurn] : []),
    {
      name: `${sizes} sizes of a large PNG, from ten addresses`,
      reads: Array.from({ length: sizes }, (_, at) => ({ url: png(WIDTH + at, at), client: `192.0.2.${at % 10}` })),
      everyMs: 300,
      pauseMs: PAUSE_MS,
    },
  ];
}

/** Equal URLs within a second would get the same bytes from the micro-cache. */
function png(width: number, number: number): string {
  return `/${CHANNEL}/tv.png?width=${width}&number=${number}`;
}

function measure(context: FaultContext, subject: string, attack: Attack): Promise<void> {
  return context.measure(subject, attack.name, () => read(context, attack));
}

async function read(context: FaultContext, attack: Attack): Promise<Outcome> {
  const { reads } = attack;
  const upstream = await startNoise();
  const service = await context.start({ env: { ...TRUSTED, ...youtubeSettings(upstream.origin) } });
  const sockets: Socket[] = [];
  const most = { bytes: 0, fullness: 0 };

  async function look(): Promise<void> {
    most.bytes = Math.max(most.bytes, await residentBytes(service.pid));
    most.fullness = Math.max(most.fullness, await fullnessOf(service));
  }

  async function attackAll(): Promise<void> {
    for (const each of reads) {
      sockets.push(await startSlowRead(service, each, attack.pauseMs));
      await sleep(attack.everyMs);
      await look();
    }
    // The last images are still being encoded.
    await comesTrue(async () => {
      await look();
      return sockets.every(({ bytesRead, closed }) => bytesRead > 0 || closed);
    }, ENCODED_MS);
  }

  try {
    for (const { url } of reads.slice(0, 2)) await service.client.send({ url, headers: forwarded('192.0.2.99') });
    const alone = await probeFor(service, () => sleep(ALONE_MS));
    const before = await residentBytes(service.pid);
    const during = await probeFor(service, attackAll);
    const closed = metricValue(await metricsOf(service), 'pennant_slow_responses_closed_total{reason="memory"}');

    const faults = [...alone.probe.faults, ...during.probe.faults].map((fault) => `another client: ${fault}`);
    if (most.fullness > 1) faults.push(`${GAUGE}: ${most.fullness.toFixed(2)} of what may wait`);
    if (most.fullness === 0 || closed === 0) faults.push(`${closed} responses were closed: nothing waited`);
    const growth = `memory +${Math.round((most.bytes - before) / MIB)} MiB`;
    const latency = boundRatio(during.probe, alone.probe, MAX_WAIT_RATIO);
    const cpu = `${during.cores.toFixed(2)} cores`;
    const fullness = `${GAUGE} at most ${Math.round(most.fullness * 100)} % full`;
    return {
      measured: `${reads.length} requests, ${growth}, ${fullness}, ${closed} closed, ${latency.measured}, ${cpu}`,
      faults,
      exceeded: [
        ...latency.exceeded,
        ...(most.bytes - before > MAX_GROWTH_BYTES ? [growth] : []),
        ...(during.cores > MAX_CORES ? [cpu] : []),
      ],
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await context.cleanUpServices();
    await upstream.close();
  }
}

/** An upstream with one channel, whose banner hardly compresses. */
async function startNoise() {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const size = { width: 2_560, height: 1_440 };
  const banner = await sharp({ create: { ...size, channels: 3, background: 'gray', noise } })
    .jpeg({ quality: 50 })
    .toBuffer();
  const send = respondWithStatus(200, { 'content-type': 'image/jpeg' }, banner);
  return startBannerChannels([{ channelId: CHANNEL, send }]);
}

const forwarded = (client: string) => ({ 'x-forwarded-for': client });

/** Requests an image and reads 1 KB of it after each pause. */
async function startSlowRead({ port }: ServiceProcess, { url, client }: SlowRead, pauseMs: number): Promise<Socket> {
  const socket = await openConnection(port);
  socket.pause();
  socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n\r\n`);
  const timer = setInterval(() => socket.read(READ_BYTES), pauseMs);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

/** What an ordinary client and the service's own process experience meanwhile. */
async function probeFor(service: FaultService, run: () => Promise<unknown>) {
  const probe = startProbe(service, [`/api/channel/${CHANNEL}`]);
  const [startedAtMs, cpu] = [performance.now(), await cpuSeconds(service.pid)];
  await run();
  const cores = ((await cpuSeconds(service.pid)) - cpu) / ((performance.now() - startedAtMs) / 1_000);
  return { probe: await probe.stop(), cores };
}

async function fullnessOf(service: ServiceProcess): Promise<number> {
  const { gauges } = readBoundMetrics(await metricsOf(service));
  return gauges.find(({ name }) => name === GAUGE)?.fullness ?? 0;
}
