import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import { residentBytes } from '../helpers/process.ts';
import { comesTrue, type FaultContext, metricsOf, metricValue, type Subject } from './context.ts';
import { makeMemoryGroup } from './memory-group.ts';
import { ALONE_MS, boundRatio, HOT_URLS, startConnectingProbe, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The limit in every manifest. */
const GROUP_BYTES = 1024 * MIB;
const HELD_MS = 1_000;
/** How much longer others may wait than without the attack. */
const MAX_WAIT_RATIO = 10;
/** For each connection of the attack, and for the others' requests. */
const MAX_CPU_SECONDS = { perConnection: 0.004, once: 2 };

const UNFINISHED = `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(64 * KIB)}`;

interface PlaceAttack {
  readonly name: string;
  readonly connections: number;
  /** Of one network. */
  readonly addresses: number;
  /** What each connection sends. */
  readonly bytes: string;
  readonly maxGrowthBytes: number;
}

/**
 * Connections that take the places and the memory of others. One bystander keeps its connection; another one needs a new one for
 * each request, which the system queues behind those of the attack.
 */
export const places: Subject = {
  name: 'places',
  needsQuiet: true,
  async run(context) {
    for (const attack of attacksOf(context)) await measureInGroup(context, attack);
  },
};

function attacksOf({ isLong }: FaultContext): readonly PlaceAttack[] {
  const many = isLong ? 9_000 : 3_000;
  return [
    {
      name: `${many} connections of one address with 64 KB of an unfinished header`,
      ...{ connections: many, addresses: 1, bytes: UNFINISHED, maxGrowthBytes: 128 * MIB },
    },
    {
      name: `${many} such connections of 254 addresses`,
      ...{ connections: many, addresses: 254, bytes: UNFINISHED, maxGrowthBytes: 400 * MIB },
    },
  ];
}

async function measureInGroup(context: FaultContext, attack: PlaceAttack): Promise<void> {
  const group = makeMemoryGroup(GROUP_BYTES);
  if (group === undefined) {
    context.report.skip('places', attack.name, 'no cgroup can be made here');
    return;
  }
  try {
    await context.measure('places', attack.name, () => takePlaces(context, attack, group.enter));
  } finally {
    await context.cleanUpServices();
    await comesTrue(group.remove, 5_000);
  }
}

async function takePlaces(context: FaultContext, attack: PlaceAttack, enter: readonly string[]): Promise<Outcome> {
  const { addresses, bytes } = attack;
  const service = await context.start({ prefix: enter, env: { RATE_LIMIT_OVERRIDES: '127.0.0.1/32=unlimited' } });
  for (const url of HOT_URLS) await service.client.send({ url });
  const alone = await probeDuring(service, () => sleep(ALONE_MS));
  const before = await residentBytes(service.pid);
  const cpu = await cpuSeconds(service.pid);
  const sockets: Socket[] = [];
  let mostBytes = before;
  const look = async () => {
    mostBytes = Math.max(mostBytes, await residentBytes(service.pid));
  };

  const others = await probeDuring(service, async () => {
    while (sockets.length < attack.connections) {
      const count = Math.min(100, attack.connections - sockets.length);
      const opened = await openConnections(service.port, count, `127.0.3.${1 + ((sockets.length / 100) % addresses)}`);
      for (const socket of opened) socket.resume().write(bytes);
      sockets.push(...opened);
      await look();
    }
    await sleep(HELD_MS);
    await look();
  });
  const usedCpu = (await cpuSeconds(service.pid)) - cpu;
  const metrics = await metricsOf(service);
  for (const socket of sockets) socket.destroy();

  const faults = [...alone.faults, ...others.faults].map((fault) => `another client: ${fault}`);
  const entries = metricValue(metrics, 'pennant_connections_entries');
  const latency = boundRatio(others, alone, MAX_WAIT_RATIO);
  const connectingMs = Math.max(...others.connecting.latenciesMs);
  const growth = mostBytes - before;
  const memory = `memory +${Math.round(growth / MIB)} MiB`;
  const cpuTime = `${usedCpu.toFixed(1)} s of CPU`;
  const isBusy = usedCpu > MAX_CPU_SECONDS.once + MAX_CPU_SECONDS.perConnection * attack.connections;
  return {
    measured: `${entries} connections left; ${latency.measured}, a new connection at most ${connectingMs.toFixed(0)} ms; ${cpuTime}; ${memory}`,
    faults: [...faults, ...findEmptySamples({ 'requests of others': others.latenciesMs.length })],
    exceeded: [...latency.exceeded, ...(isBusy ? [cpuTime] : []), ...(growth > attack.maxGrowthBytes ? [memory] : [])],
  };
}

async function probeDuring(service: { readonly port: number }, run: () => Promise<unknown>) {
  const probes = [startProbe(service), startConnectingProbe(service)] as const;
  // One of them keeps the connection that it has by then.
  await Promise.all(probes.map(({ begun }) => begun));
  await run();
  const [keeping, connecting] = await Promise.all([probes[0].stop(), probes[1].stop()]);
  return { ...keeping, faults: [...keeping.faults, ...connecting.faults], connecting };
}
