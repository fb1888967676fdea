import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMemoryRateLimiter } from '../../src/rate-limit/memory.ts';
import { createManualClock } from '../helpers/clock.ts';
import type { HttpSender } from '../helpers/http-request.ts';
import { residentBytes } from '../helpers/process.ts';
import { TRUSTED } from './bystanders.ts';
import { type FaultContext, metricsOf, metricValue } from './context.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };
const REMEMBERED = 200_000;
const MAX_LEFT_MEMORY = 1.5;
/** A blocked client is admitted again after its window, so the attack must be shorter. */
const BLOCKED_MS = 20_000;
const MAX_LIMITER_BYTES = 64 * 1024 * 1024;
const SETTLED_BYTES = 1024 * 1024;

/** A million addresses against a limiter that remembers a fifth of them. */
export async function floodTheLimiter(): Promise<Outcome> {
  // The clock stands still: a blocked client is never admitted, however slow the machine is.
  const limiter = createMemoryRateLimiter({ clock: createManualClock(), maxClients: REMEMBERED });
  const faults: string[] = [];
  const exceeded: string[] = [];
  const blocked = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
  for (const client of blocked) for (let hit = 0; hit < 10; hit += 1) await limiter.hit(client, LIMIT);
  const before = await usedMemory();
  const startedAtMs = performance.now();
  for (let number = 0; number < 1_000_000; number += 1) {
    await limiter.hit(`10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`, LIMIT);
    // An attacker wants blocked clients to be forgotten.
    if (number % 100_000 === 99_999) {
      for (const client of blocked)
        if ((await limiter.hit(client, LIMIT)).isAllowed) faults.push(`${client} was let in`);
    }
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const grown = (await usedMemory()) - before;
  const { entries: clients } = limiter.stats();
  if (clients > REMEMBERED) faults.push(`${clients} clients are remembered`);
  if (grown > MAX_LIMITER_BYTES) exceeded.push(`memory grew by ${mebibytes(grown)} MiB`);
  if (seconds > 30) exceeded.push(`it took ${seconds.toFixed(0)} s, longer than the limiter's window`);
  const measured = `${clients} remembered, memory +${mebibytes(grown)} MiB, 100 blocked ones stayed blocked, ${seconds.toFixed(1)} s`;
  return { measured, faults, exceeded };
}

/** A flood of addresses through the listener behind a trusted proxy, with fewer than the limiter can store. */
export async function floodTheListener(context: FaultContext): Promise<Outcome> {
  const service = await context.start({ env: { ...TRUSTED, RATE_LIMIT_OVERRIDES: '' } });
  const { client } = service;
  const faults: string[] = [];
  for (let hit = 1; hit <= LIMIT.requests + 1; hit += 1) {
    const status = await askAs(client, '192.0.2.1');
    if (status !== (hit <= LIMIT.requests ? 200 : 429)) faults.push(`request ${hit} of the client to block: ${status}`);
  }
  const before = await residentBytes(service.pid);
  const endMs = performance.now() + Math.min(context.attackMs, BLOCKED_MS);
  let sent = 0;
  const flood = async () => {
    while (performance.now() < endMs) {
      sent += 1;
      if ((await askAs(client, `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`)) !== 200)
        faults.push('a new client was refused');
    }
  };
  await Promise.all(Array.from({ length: 16 }, flood));
  if ((await askAs(client, '192.0.2.1')) !== 429) faults.push('the blocked client was let in');
  const remembered = metricValue(await metricsOf(service), 'pennant_limiter_clients');
  const grown = (await residentBytes(service.pid)) / before;
  faults.push(...findEmptySamples({ 'clients sent': sent, 'clients remembered': remembered }));
  await context.cleanUpServices();
  const memory = `memory × ${grown.toFixed(2)}`;
  return {
    measured: `${sent} clients, ${remembered} remembered, the blocked one stayed blocked, ${memory}`,
    faults,
    exceeded: grown > MAX_LEFT_MEMORY ? [`${memory}, more than ${MAX_LEFT_MEMORY}`] : [],
  };
}

async function askAs(client: HttpSender, address: string): Promise<number> {
  return (await client.send({ url: '/problems', headers: { 'x-forwarded-for': address } })).status;
}

/** Memory in use after a garbage collection. */
async function usedMemory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let used = Number.POSITIVE_INFINITY;
  // The memory of buffers is freed some time after they are collected.
  for (let before = used; ; before = used) {
    collect();
    await sleep(100);
    const { heapUsed, external } = process.memoryUsage();
    used = heapUsed + external;
    if (before - used < SETTLED_BYTES) return used;
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
