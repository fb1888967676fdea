import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../src/lib/clock.ts';
import { createMemoryRateLimiter } from '../src/rate-limit/memory.ts';

export interface LimiterFigures {
  readonly clients: number;
  readonly bytesPerClient: number;
  /** Processor time of each client's first request, the dearest one, for it makes the log. */
  readonly newClientNs: number;
  /** A later request of each, in the same order. */
  readonly knownClientNs: number;
  /** The longest single decision by the wall clock: pauses of the collector and of the machine included. */
  readonly worstDecisionMs: number;
}

const DEFAULT_CLIENTS = 1_000_000;
/** The default budget in a window that does not end during the run, so that no client expires. */
const LIMIT = { requests: 10, windowMs: 3_600_000 };

/** Measures the in-process limiter with as many distinct clients. */
export function measureLimiter(clients = DEFAULT_CLIENTS): LimiterFigures {
  const limiter = createMemoryRateLimiter({ clock: systemClock, maxClients: clients });
  let worstDecisionMs = 0;

  function hitAll(): number {
    const before = process.threadCpuUsage();
    for (let client = 0; client < clients; client += 1) {
      const address = addressOf(client);
      const startedMs = performance.now();
      limiter.hit(address, LIMIT);
      worstDecisionMs = Math.max(worstDecisionMs, performance.now() - startedMs);
    }
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) / clients) * 1000;
  }

  limiter.hit('192.0.2.1', LIMIT);
  const bytesBefore = usedBytes();
  const newClientNs = hitAll();
  const bytesPerClient = (usedBytes() - bytesBefore) / clients;
  const knownClientNs = hitAll();
  return { clients, bytesPerClient, newClientNs, knownClientNs, worstDecisionMs };
}

/** Distinct addresses in no order that a map could profit from. */
function addressOf(client: number): string {
  const bits = Math.imul(client + 1, 0x9e3779b1) >>> 0;
  return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

if (import.meta.main) {
  const figures = measureLimiter();
  console.log(`clients                     ${figures.clients}`);
  console.log(`bytes per client            ${figures.bytesPerClient.toFixed(0)}`);
  console.log(`first request of a client   ${figures.newClientNs.toFixed(0)} ns`);
  console.log(`second request of a client  ${figures.knownClientNs.toFixed(0)} ns`);
  console.log(`longest decision            ${figures.worstDecisionMs.toFixed(1)} ms`);
}
