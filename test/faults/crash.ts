import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../../bench/processes.ts';
import { openImages, storedImagesIn } from '../helpers/images.ts';
import { childrenOf } from '../helpers/process.ts';
import { type FaultContext, findOrphans, type Subject, stopService } from './context.ts';
import { findChangedRecords, findFaultsOf, freshImageUrl, readRecords, startMixedLoad } from './mixed-load.ts';
import { type Outcome, percentile } from './report.ts';
import { findEmptySamples } from './response-faults.ts';
import { integrityOf } from './service-checks.ts';

/** CPU time of the process until it has responded with every record. */
const MAX_START_SECONDS = 1.5;
/** The base must not depend on the port, or every record would change. */
const SETTINGS = { env: { BASE_URL: 'https://pennant.example' } };

/** Kills the service at any moment. */
export const crash: Subject = {
  name: 'crash',
  async run(context) {
    const kills = context.isLong ? 200 : 6;
    await context.measure('crash', `kill -9 under mixed load, ${kills} times`, () => killTheService(context, kills));
  },
};

async function killTheService(context: FaultContext, times: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const faults: string[] = [];
  const overloads: string[] = [];
  const startsMs: number[] = [];
  const startsSeconds: number[] = [];
  let responses = 0;
  let service = await context.start({ directory, ...SETTINGS });
  const reference = await readRecords(service.client);
  let served: readonly string[] = [];
  for (let kill = 0; kill < times; kill += 1) {
    const load = startMixedLoad(service.port);
    await sleep(100 + Math.random() * 600);
    const encoders = await childrenOf(service.pid);
    load.expectEnd();
    service.child.kill('SIGKILL');
    await service.ended;
    await load.stop();
    faults.push(...load.faults, ...(await findOrphans(encoders)));
    overloads.push(...load.overloads);
    responses += load.responses;
    served = [...served, ...load.imageUrls].slice(-20);
    // Only every other time, so that the service must also recover its files alone.
    if (kill % 2 === 0) faults.push(...findDatabaseFaults(join(directory, 'data')));
    const startedAtMs = performance.now();
    service = await context.start({ directory, ...SETTINGS });
    faults.push(...(await findChangedRecords(service.client, reference)));
    startsMs.push(performance.now() - startedAtMs);
    startsSeconds.push(await cpuSeconds(service.pid));
    faults.push(...(await findFaultsOf(service.client, [...served.slice(-4), freshImageUrl()])));
  }
  faults.push(...(await stopService(service)));
  const { images, damaged } = await checkImages(join(directory, 'data'));
  faults.push(...damaged, ...findDatabaseFaults(join(directory, 'data')), ...findEmptySamples({ responses, images }));
  const median = percentile(startsMs, 0.5).toFixed(0);
  const most = Math.max(...startsSeconds);
  const cpuTime = `at most ${most.toFixed(1)} s of CPU for a start`;
  return {
    measured: `${responses} responses, ${images} images whole, responds again after ${median} ms, ${cpuTime}`,
    faults,
    exceeded: [...overloads, ...(most > MAX_START_SECONDS ? [cpuTime] : [])],
  };
}

function findDatabaseFaults(dataDir: string): string[] {
  const path = join(dataDir, 'cache.db');
  if (!existsSync(path)) return ['cache.db is missing'];
  const result = integrityOf(path);
  return result === 'ok' ? [] : [`cache.db: ${result}`];
}

/** Reads every stored image. */
async function checkImages(dataDir: string): Promise<{ images: number; damaged: string[] }> {
  const stored = await openImages(dataDir, 2 ** 31);
  const rows = storedImagesIn(dataDir);
  const damaged: string[] = [];
  for (const id of rows) if ((await stored.get(id)) === undefined) damaged.push(`${id.key} is damaged`);
  stored.close();
  return { images: rows.length, damaged };
}
