import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../src/lib/clock.ts';
import { createMemoryRateLimiter } from '../src/rate-limit/memory.ts';
import type { Print, Row } from './report.ts';
import { formatSummary, summarize } from './statistics.ts';

type AddressKind = keyof typeof ADDRESSES;

const CLIENTS = 200_000;
const PAUSE_ROUNDS = 5;
/** The default budget in a window that does not end during the run, so that no client expires. */
const LIMIT = { requests: 10, windowMs: 3_600_000 };
/** Clients are objects on the heap, so that the limiter stays a small program: more bytes and garbage than off the heap. */
const MOST_BYTES_PER_CLIENT = 400;
const MOST_DECISION_NS = { first: 12_000, second: 4_000 };
const MOST_PAUSE_MS = 50;

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

/** The limiter in memory, with as many clients as it remembers. */
export async function bench(print: Print): Promise<Row[]> {
  print(`deciding for ${CLIENTS} clients`);
  return [...clientRows(), pauseRow('IPv4'), pauseRow('IPv6')];
}

function clientRows(): Row[] {
  const limiter = createMemoryRateLimiter({ clock: systemClock, maxClients: CLIENTS });

  /** @returns nanoseconds of CPU time for one request of each client, always in the same order */
  function hitAll(): number {
    const before = process.threadCpuUsage();
    for (let client = 0; client < CLIENTS; client += 1) limiter.hit(ADDRESSES.IPv4(client), LIMIT);
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) / CLIENTS) * 1000;
  }

  limiter.hit('192.0.2.1', LIMIT);
  const bytesBefore = usedBytes();
  // The most expensive one, because it creates the client's log.
  const first = decisionRow('first', hitAll());
  const bytesPerClient = (usedBytes() - bytesBefore) / CLIENTS;
  return [
    {
      part: 'limiter',
      what: `memory for each of ${CLIENTS} clients with one request`,
      measured: `${bytesPerClient.toFixed(0)} bytes`,
      target: `at most ${MOST_BYTES_PER_CLIENT} bytes`,
      isMet: bytesPerClient <= MOST_BYTES_PER_CLIENT,
    },
    first,
    decisionRow('second', hitAll()),
  ];
}

function decisionRow(which: keyof typeof MOST_DECISION_NS, ns: number): Row {
  const mostNs = MOST_DECISION_NS[which];
  return {
    part: 'limiter',
    what: `a client’s ${which} decision, CPU time`,
    measured: `${ns.toFixed(0)} ns`,
    target: `at most ${mostNs} ns`,
    isMet: ns <= mostNs,
  };
}

function pauseRow(kind: AddressKind): Row {
  const times = Array.from({ length: PAUSE_ROUNDS }, () => longestDecisionMs(ADDRESSES[kind]));
  const summary = summarize(times);
  return {
    part: 'limiter',
    what: `longest of ${CLIENTS} decisions for new ${kind} clients, CPU time`,
    measured: `${formatSummary(summary, 1)} ms`,
    target: `at most ${MOST_PAUSE_MS} ms`,
    isMet: summary.median <= MOST_PAUSE_MS,
    figures: { times },
  };
}

/** CPU time of this thread, garbage collection included. Other work on the machine does not change it. */
function longestDecisionMs(addressOf: (client: number) => string): number {
  collectGarbage();
  const limiter = createMemoryRateLimiter({ clock: systemClock, maxClients: CLIENTS });
  let longestMs = 0;
  for (let client = 0; client < CLIENTS; client += 1) {
    const address = addressOf(client);
    const before = process.threadCpuUsage();
    limiter.hit(address, LIMIT);
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1000);
  }
  return longestMs;
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
