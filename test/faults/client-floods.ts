import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMemoryRateLimiter } from '../../src/rate-limit/memory.ts';
import { createManualClock } from '../helpers/clock.ts';
import type { Outcome } from './report.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };
const REMEMBERED = 200_000;
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
