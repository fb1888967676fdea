import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cachePaths } from '../../src/cache/cache-file.ts';
import { hasErrorCode } from '../../src/lib/file-system.ts';
import { type FaultContext, stopService } from './context.ts';
import { findFaultsOf, freshImageUrl, RECORD_URLS, startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples, findResponseFaults, isOverload } from './response-faults.ts';
import { integrityOf, statesOf } from './service-checks.ts';

/** Width in pixels. A few of these images fill the quota. */
const LARGE = { from: 500, to: 1_200 };
const QUOTA_BYTES = 4 * 1024 * 1024;
/** The quota counts what the disk needs for an image on average. */
const MAX_DISK_BYTES = 1.25 * QUOTA_BYTES;

/** A missing directory is created with its parents. */
export async function removeTheDirectory(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'not', 'yet', 'there');
  const service = await context.start({ directory, env: { DATA_DIR: dataDir } });
  const faults = await findFaultsOf(service.client, RECORD_URLS);
  const names: readonly string[] = (await readdir(dataDir).catch(ignoreMissing)) ?? [];
  if (!names.includes('cache.db')) faults.push('the directory or its cache.db is missing');
  return { measured: 'made, with the folders above it', faults };
}

/** Images of new sizes with several times the bytes of the quota. */
export async function exceedTheQuota(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const service = await context.start({ directory, env: { IMAGE_CACHE_BYTES: String(QUOTA_BYTES) } });
  const faults: string[] = [];
  const overloads: string[] = [];
  let most = 0;
  let written = 0;
  const bytes = (context.isLong ? 20 : 1.5) * QUOTA_BYTES;
  while (written < bytes) {
    const asked = Array.from({ length: 8 }, async () => {
      const url = freshImageUrl(LARGE);
      return { url, response: await service.client.send({ url }) };
    });
    const responded = await Promise.all(asked);
    const served = responded.filter(({ response }) => !isOverload(response));
    const refused = asked.length - served.length;
    if (refused > 0) overloads.push(`${refused} of ${asked.length} images were refused: the machine is too busy`);
    if (served.length === 0) {
      faults.push('every image was refused');
      break;
    }
    faults.push(...(await findResponseFaults(served)));
    for (const { response } of served) written += response.bytes.length;
    most = Math.max(most, await bytesOfImages(join(directory, 'data')));
  }
  faults.push(...findEmptySamples({ 'stored bytes': most }));
  if (most > MAX_DISK_BYTES) faults.push(`${most} bytes were kept, more than ${MAX_DISK_BYTES}`);
  return {
    measured: `${mebibytes(written)} MiB made, at most ${mebibytes(most)} of 4 MiB kept`,
    faults,
    exceeded: overloads,
  };
}

/** Two services with the same directory. */
export async function shareTheDirectory(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const services = await Promise.all([context.start({ directory }), context.start({ directory })]);
  const loads = services.map(({ port }) => startMixedLoad(port));
  await sleep(context.attackMs);
  for (const load of loads) await load.stop();
  const faults = loads.flatMap((load) => [...load.faults, ...findEmptySamples({ responses: load.responses })]);
  faults.push(...(await Promise.all(services.map(stopService))).flat());
  const integrity = integrityOf(join(directory, 'data', 'cache.db'));
  if (integrity !== 'ok') faults.push(`cache.db: ${integrity}`);
  const complaints = services.map((service) => statesOf(service, 'cache').failed);
  if (complaints.some((count) => count > 0)) faults.push(`a part failed: ${complaints.join(', ')}`);
  const responses = loads.reduce((sum, load) => sum + load.responses, 0);
  const exceeded = loads.flatMap(({ overloads }) => overloads);
  return { measured: `works: ${responses} responses`, faults, exceeded };
}

/** The size of the database without its log, and of the originals. */
async function bytesOfImages(dataDir: string): Promise<number> {
  const { database, originals } = cachePaths(dataDir);
  const names = (await readdir(originals).catch(ignoreMissing)) ?? [];
  const paths = [database, ...names.map((name) => join(originals, name))];
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(ignoreMissing))?.size ?? 0));
  return sizes.reduce((total, size) => total + size, 0);
}

function ignoreMissing(error: unknown): undefined {
  if (!hasErrorCode(error, 'ENOENT')) throw error;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
