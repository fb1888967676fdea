import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../helpers/process.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { comesTrue, encodersOf, type FaultContext, findOrphans, type Subject } from './context.ts';
import { CHANNELS } from './mixed-load.ts';
import { openConnection } from './raw-connections.ts';
import { loadAverage, type Outcome } from './report.ts';
import { findEmptySamples, findResponseFaults, isRefusal } from './response-faults.ts';

const MAX_STOP_MS = 10_000;
/** The time limit for the end of a process. */
const GIVE_UP_MS = 20_000;

/** Signals at inconvenient moments. */
export const stops: Subject = {
  name: 'stops',
  async run(context) {
    await Promise.all([
      context.measure('stops', 'SIGTERM with more work than can be finished', () => stopWithTooMuchWork(context)),
      stopWhileAllHang(context),
    ]);
  },
};

/** More encodes than a stop has time for. None may end without a response. */
async function stopWithTooMuchWork(context: FaultContext): Promise<Outcome> {
  const service = await context.start({ env: { ENCODERS: '1' } });
  const { client } = service;
  let accepted = 0;
  const onAccepted = () => {
    accepted += 1;
  };
  // Of half a second and more each.
  const urls = Array.from({ length: 60 }, (_, index) => `/${CHANNELS[0]}/tv.avif?quality=100&width=${1_400 + index}`);
  const asked = urls.map(async (url) => ({ url, response: await client.send({ url, onAccepted }) }));
  const outcomes = Promise.allSettled(asked);
  await comesTrue(() => accepted === asked.length, GIVE_UP_MS);
  const stop = await terminate(service);
  const faults = [...stop.faults];
  if (accepted !== asked.length) faults.push(`only ${accepted} requests were accepted`);
  let refused = 0;
  for (const outcome of await outcomes) {
    if (outcome.status === 'rejected') faults.push(`cut: ${(outcome.reason as Error).message}`);
    else if (isRefusal(outcome.value.response)) refused += 1;
    else faults.push(...(await findResponseFaults([outcome.value])));
  }
  faults.push(...findEmptySamples({ 'refused images': refused }));
  const measured = `60 slow images waited: ${refused} told 503, none cut; ${stop.measured}`;
  return { ...stop, measured, faults };
}

const HANGING = 'SIGTERM while Redis, an encoder and a reader hang';

async function stopWhileAllHang(context: FaultContext): Promise<void> {
  if (!findRedisServer()) return context.report.skip('stops', HANGING, 'redis-server is not installed');
  const redis = await startRedisServer();
  try {
    await context.measure('stops', HANGING, () => stopHanging(context, redis));
  } finally {
    await redis.remove();
  }
}

async function stopHanging(context: FaultContext, redis: RedisServer): Promise<Outcome> {
  const service = await context.start({ env: { REDIS_URL: redis.url } });
  await service.client.send({ url: `/${CHANNELS[0]}/tv.png` });
  const [reader, half] = await Promise.all([openConnection(service.port), openConnection(service.port)]);
  // More than the kernel's buffers hold.
  reader.pause().write(`GET /${CHANNELS[0]}/tv.png HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(100));
  half.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  const encoders = await encodersOf(service);
  for (const pid of encoders) process.kill(pid, 'SIGSTOP');
  redis.freeze();
  const stop = await terminate(service);
  for (const socket of [reader, half]) socket.destroy();
  return { ...stop, faults: [...stop.faults, ...(await findOrphans(encoders))] };
}

interface Stop extends Outcome {
  readonly exceeded: readonly string[];
}

async function terminate({ child, ended }: ServiceProcess): Promise<Stop> {
  const startedAtMs = performance.now();
  child.kill('SIGTERM');
  const late = sleep(GIVE_UP_MS, 'never', { ref: false });
  const exit = await Promise.race([ended, late]);
  const ms = performance.now() - startedAtMs;
  return {
    measured: `exit ${exit} after ${(ms / 1000).toFixed(1)} s`,
    faults: exit === 0 ? [] : [`ended with ${exit}`],
    exceeded: ms > MAX_STOP_MS ? [`the stop took ${ms.toFixed(0)} ms (${loadAverage()})`] : [],
  };
}
