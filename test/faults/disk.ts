import type { Subject } from './context.ts';
import { exceedTheQuota, removeTheDirectory, shareTheDirectory } from './disk-access.ts';
import { damageTheCache } from './disk-damage.ts';
import { loseTheDisk } from './disk-loss.ts';

/** Faults of the disk, and of other processes that use it. */
export const disk: Subject = {
  name: 'disk',
  async run(context) {
    const measure = (attack: string, run: typeof damageTheCache) => context.measure('disk', attack, () => run(context));
    // This attack waits for the service to look at its file again.
    const damage = measure('cache.db damaged', damageTheCache);
    await loseTheDisk(context);
    await measure('DATA_DIR missing', removeTheDirectory);
    await measure('the image quota under churn', exceedTheQuota);
    await measure('two services on one DATA_DIR', shareTheDirectory);
    await damage;
  },
};
