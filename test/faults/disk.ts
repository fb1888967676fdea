import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultContext, type Subject, stopService } from './context.ts';
import { damageTheCache } from './disk-damage.ts';
import { loseTheDisk } from './disk-loss.ts';
import { startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';
import { integrityOf, statesOf } from './service-checks.ts';

/** Faults of the disk, and of other processes that use it. */
export const disk: Subject = {
  name: 'disk',
  async run(context) {
    const measure = (attack: string, run: typeof damageTheCache) => context.measure('disk', attack, () => run(context));
    // This attack waits for the service to look at its file again.
    const damage = measure('cache.db damaged', damageTheCache);
    await loseTheDisk(context);
    await measure('two services on one DATA_DIR', shareTheDirectory);
    await damage;
  },
};

async function shareTheDirectory(context: FaultContext): Promise<Outcome> {
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
