import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes, type ServiceProcess } from '../helpers/process.ts';
import { comesTrue, type FaultContext, type Subject } from './context.ts';
import { boundLatency, HOT_URLS, startProbe } from './probe.ts';
import { openConnections } from './raw-connections.ts';
import type { Outcome } from './report.ts';
import { streamRequests } from './request-stream.ts';
import { findEmptySamples } from './response-faults.ts';
import { countDescriptors } from './service-checks.ts';

/** What an attack did, and the problems that it found. */
interface AttackOutcome {
  readonly done: string;
  readonly faults: readonly string[];
}

interface Attack {
  readonly name: string;
  /** Runs until about the given time of `performance.now()`, or until it is done. */
  run(service: ServiceProcess, untilMs: number): Promise<AttackOutcome>;
}

const LARGE_IMAGE = 'GET /UCPennantSample00000001A/tv.png HTTP/1.1\r\nHost: a\r\n\r\n';
/** Ten seconds for a request's fields, two between checks of the connections, and time for a busy machine. */
const HEADERS_MS = 25_000;
/** Until a busy machine has begun with every connection. */
const BUSY_MS = 25_000;

/** Attacks that hold connections, or break them off. */
const ATTACKS: readonly Attack[] = [
  {
    name: '400 connections that send a byte of their fields each second',
    async run({ port }) {
      const sockets = await openConnections(port, 400);
      let closed = 0;
      let told = 0;
      for (const socket of sockets) {
        socket.on('data', (chunk: Buffer) => {
          if (chunk.toString('latin1').startsWith('HTTP/1.1 408 ')) told += 1;
        });
        socket.on('close', () => {
          closed += 1;
        });
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
      }
      const startedAtMs = performance.now();
      while (closed < sockets.length && performance.now() - startedAtMs < HEADERS_MS) {
        await sleep(1_000);
        for (const socket of sockets) if (socket.writable) socket.write('x');
      }
      for (const socket of sockets) socket.destroy();
      const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
      const faults = closed < 400 || told < 400 ? [`${closed} of 400 were closed, ${told} with a 408`] : [];
      return { done: `all told 408 and closed after ${seconds} s`, faults };
    },
  },
  {
    name: '200 readers that take an image and do not read it',
    async run({ port }, untilMs) {
      const sockets = await openConnections(port, 200);
      const begun = new Set<unknown>();
      for (const socket of sockets) {
        socket.pause();
        socket.write(LARGE_IMAGE);
      }
      await comesTrue(() => {
        for (const socket of sockets) if (socket.read(1) !== null) begun.add(socket);
        return begun.size === sockets.length;
      }, BUSY_MS);
      await sleep(Math.max(0, untilMs - performance.now()));
      for (const socket of sockets) socket.destroy();
      const faults = begun.size === sockets.length ? [] : [`only ${begun.size} responses began`];
      return { done: `${sockets.length} held`, faults };
    },
  },
  {
    name: 'tunnels requested and reset',
    async run({ port }, untilMs) {
      let resets = 0;
      while (performance.now() < untilMs) {
        const sockets = await openConnections(port, 20);
        for (const socket of sockets) socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n');
        await sleep(resets % 3);
        for (const socket of sockets) socket.resetAndDestroy();
        resets += sockets.length;
      }
      return { done: `${resets} reset`, faults: findEmptySamples({ resets }) };
    },
  },
];

const OTHERS = { what: "others' p99", share: 0.99, limitMs: 50 };
const MAX_LEFT_DESCRIPTORS = 10;
const MAX_LEFT_MEMORY = 1.2;
const RECOVERY_MS = 20_000;

/** Hostile clients. Another client must not be affected, and no resources may remain in use afterwards. */
export const clients: Subject = {
  name: 'clients',
  needsQuiet: true,
  async run(context) {
    const service = await context.start();
    await warmUp(service);
    for (const attack of ATTACKS) {
      await context.measure('clients', attack.name, () => attackOnce(context, service, attack));
    }
  },
};

/** A process grows once with its first connections and load. This growth is no leak. */
async function warmUp(service: ServiceProcess): Promise<void> {
  for (const url of [...HOT_URLS, '/UCPennantSample00000001A/tv.png'])
    await (await fetch(`${service.base}${url}`)).arrayBuffer();
  const probe = startProbe(service);
  for (const socket of await openConnections(service.port, 500)) socket.destroy();
  await streamRequests(service.port, Array(10_000).fill({ url: HOT_URLS[0] }), 4);
  await probe.stop();
}

async function attackOnce(context: FaultContext, service: ServiceProcess, attack: Attack): Promise<Outcome> {
  const before = { descriptors: await countDescriptors(service), bytes: await residentBytes(service.pid) };
  const probe = startProbe(service);
  const { done, faults } = await attack.run(service, performance.now() + context.attackMs);
  const others = await probe.stop();
  const left = { descriptors: 0, memory: 0 };
  await comesTrue(async () => {
    left.descriptors = (await countDescriptors(service)) - before.descriptors;
    left.memory = (await residentBytes(service.pid)) / before.bytes;
    return left.descriptors <= MAX_LEFT_DESCRIPTORS && left.memory <= MAX_LEFT_MEMORY;
  }, RECOVERY_MS);

  const latency = boundLatency(others, OTHERS);
  const lost = [...faults, ...others.faults.map((fault) => `another client: ${fault}`)];
  if (left.descriptors > MAX_LEFT_DESCRIPTORS) lost.push(`${left.descriptors} descriptors are left open`);
  const memory = `memory × ${left.memory.toFixed(2)}`;
  return {
    measured: `${done}; ${latency.measured}; descriptors ${signed(left.descriptors)}, ${memory}`,
    faults: lost,
    exceeded: [
      ...latency.exceeded,
      ...(left.memory > MAX_LEFT_MEMORY ? [`${memory}, more than ${MAX_LEFT_MEMORY}`] : []),
    ],
  };
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}
