import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../src/lib/clock.ts';
import { createMemoryRateLimiter } from '../src/rate-limit/memory.ts';
import { type Summary, summarize } from './statistics.ts';

export interface LimiterFigures {
  readonly clients: number;
  readonly bytesPerClient: number;
  /** Processor time of each client's first request, the most expensive one because it creates the log. */
  readonly newClientNs: number;
  /** A later request of each, in the same order. */
  readonly knownClientNs: number;
  readonly pauses: Readonly<Record<AddressKind, PauseFigures>>;
}

/** The longest decision among the first requests of all clients. */
export interface PauseFigures {
  /** CPU time of this thread, garbage collection included. Other work on the machine does not change it. */
  readonly cpuMs: Summary;
  /** Elapsed time, including waits caused by the machine. */
  readonly wallMs: Summary;
}

type AddressKind = keyof typeof ADDRESSES;

const DEFAULT_CLIENTS = 1_000_000;
const PAUSE_ROUNDS = 5;
/** The default budget in a window that does not end during the run, so that no client expires. */
const LIMIT = { requests: 10, windowMs: 3_600_000 };

/** Distinct clients in an order that gives no map an advantage. */
const ADDRESSES = {
  IPv4(client: number): string {
    const bits = scattered(client);
    return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
  },
  IPv6(client: number): string {
    const bits = scattered(client);
    return `2001:db8:${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}::/64`;
  },
};

/** Measures the in-process limiter with this many distinct clients. */
export function measureLimiter(clients = DEFAULT_CLIENTS): LimiterFigures {
  return {
    clients,
    ...measureClients(clients),
    pauses: { IPv4: measurePauses(clients, 'IPv4'), IPv6: measurePauses(clients, 'IPv6') },
  };
}

function measureClients(clients: number): Omit<LimiterFigures, 'clients' | 'pauses'> {
  const limiter = createMemoryRateLimiter({ clock: systemClock, maxClients: clients });

  function hitAll(): number {
    const before = process.threadCpuUsage();
    for (let client = 0; client < clients; client += 1) limiter.hit(ADDRESSES.IPv4(client), LIMIT);
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) / clients) * 1000;
  }

  limiter.hit('192.0.2.1', LIMIT);
  const bytesBefore = usedBytes();
  const newClientNs = hitAll();
  const bytesPerClient = (usedBytes() - bytesBefore) / clients;
  return { bytesPerClient, newClientNs, knownClientNs: hitAll() };
}

function measurePauses(clients: number, kind: AddressKind): PauseFigures {
  const rounds = Array.from({ length: PAUSE_ROUNDS }, () => longestDecision(clients, ADDRESSES[kind]));
  return {
    cpuMs: summarize(rounds.map(({ cpuMs }) => cpuMs)),
    wallMs: summarize(rounds.map(({ wallMs }) => wallMs)),
  };
}

function longestDecision(clients: number, addressOf: (client: number) => string): { cpuMs: number; wallMs: number } {
  collectGarbage();
  const limiter = createMemoryRateLimiter({ clock: systemClock, maxClients: clients });
  const longest = { cpuMs: 0, wallMs: 0 };
  for (let client = 0; client < clients; client += 1) {
    const address = addressOf(client);
    const startedMs = performance.now();
    const before = process.threadCpuUsage();
    limiter.hit(address, LIMIT);
    const { user, system } = process.threadCpuUsage(before);
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1000);
    longest.wallMs = Math.max(longest.wallMs, performance.now() - startedMs);
  }
  return longest;
}

function scattered(client: number): number {
  return Math.imul(client + 1, 0x9e3779b1) >>> 0;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
