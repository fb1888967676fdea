import { setImmediate as nextTurn } from 'node:timers/promises';
import { createManualClock } from '../../test/helpers/clock.ts';
import { type Counts, createSimulatedInstance, zeroCounts } from './instance.ts';
import { createSimulatedFiles, createSimulatedSharedPictures, createSimulatedStore } from './stores.ts';
import { createTraffic, type TrafficOptions } from './traffic.ts';
import { createRandom } from './zipf.ts';

export interface Scenario extends TrafficOptions {
  readonly instances: number;
  /** `channel`: selected as by deploy/nginx.conf. `any`: any instance. */
  readonly routing: 'channel' | 'any';
  /** Whether records and small pictures are in one Redis for all instances. */
  readonly isShared: boolean;
  /** `MEMORY_CACHE_BYTES` of each instance. */
  readonly memoryBytes: number;
  /** `IMAGE_CACHE_BYTES` of each instance. */
  readonly diskBytes: number;
  /** The limit of pictures in Redis. */
  readonly redisPictureBytes: number;
  /** Requests per second to all instances together. */
  readonly requestsPerSecond: number;
  readonly warmUpSeconds: number;
  readonly measuredSeconds: number;
}

export interface Figures {
  readonly counts: Counts;
  readonly hitRate: number;
  /** The share of all requests that were served from memory. */
  readonly memoryHitRate: number;
  /** Record loads and downloads. */
  readonly loadsPerSecond: number;
  readonly encodesPerSecond: number;
  /** The content of all stores at the end. */
  readonly storedRecords: number;
  readonly storeBytes: number;
  readonly redisPictureBytes: number;
  readonly memoryBytesPerInstance: number;
}

/** Pictures are written after the response, so the event loop must run from time to time. */
const REQUESTS_PER_TURN = 64;

/** Runs the scenario on its own clock, and counts the results of the requests after the warm-up. */
export async function simulate(scenario: Scenario): Promise<Figures> {
  const { instances, isShared, memoryBytes, requestsPerSecond, warmUpSeconds, measuredSeconds } = scenario;
  const clock = createManualClock();
  let counts = zeroCounts();
  const sharedStore = createSimulatedStore({ isShared });
  const sharedPictures = isShared ? createSimulatedSharedPictures(scenario.redisPictureBytes) : undefined;
  const stores = Array.from({ length: isShared ? 1 : instances }, (_, at) =>
    at === 0 ? sharedStore : createSimulatedStore({ isShared }),
  );
  const running = Array.from({ length: instances }, (_, at) =>
    createSimulatedInstance({
      clock,
      store: stores[isShared ? 0 : at] ?? sharedStore,
      files: createSimulatedFiles(scenario.diskBytes),
      sharedPictures,
      memoryBytes,
      counts: () => counts,
    }),
  );
  const nextRequest = createTraffic(scenario);
  const random = createRandom(scenario.seed + 1);
  const warmUp = Math.round(warmUpSeconds * requestsPerSecond);
  const total = warmUp + Math.round(measuredSeconds * requestsPerSecond);
  for (let number = 0; number < total; number += 1) {
    if (number === warmUp) counts = zeroCounts();
    // Visitors are independent of each other.
    clock.advance((-Math.log(1 - random()) * 1000) / requestsPerSecond);
    const { rank, picture } = nextRequest();
    const at = scenario.routing === 'channel' ? ownerOf(rank, instances) : Math.floor(random() * instances);
    await running[at]?.ask(rank, picture);
    if (number % REQUESTS_PER_TURN === 0) await nextTurn();
  }

  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    counts,
    hitRate: counts.hits / counts.requests,
    memoryHitRate: counts.memoryHits / counts.requests,
    loadsPerSecond: (counts.recordLoads + counts.downloads) / measuredSeconds,
    encodesPerSecond: counts.encodes / measuredSeconds,
    storedRecords: sum(stores.map((store) => store.entries())),
    storeBytes: sum(stores.map((store) => store.bytes())),
    redisPictureBytes: sharedPictures?.bytes() ?? 0,
    memoryBytesPerInstance: sum(running.map((instance) => instance.memoryBytes())) / instances,
  };
}

/** An even distribution that is independent of the rank, like a hash. */
function ownerOf(rank: number, instances: number): number {
  return (Math.imul(rank, 0x9e3779b1) >>> 0) % instances;
}
