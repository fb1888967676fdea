import type { Subject } from './context.ts';
import { exceedTheQuota, removeTheDirectory, shareTheDirectory } from './disk-access.ts';
import { damageTheCache, damageTheCatalog, damageTheOpenCatalog } from './disk-damage.ts';
import { loseTheDisk } from './disk-loss.ts';
import { slowDownTheDisk } from './slow-disk.ts';

/** Faults of the disk, and of other processes that use it. */
export const disk: Subject = {
  name: 'disk',
  async run(context) {
    await loseTheDisk(context);
    await slowDownTheDisk(context);
    await context.measure('disk', 'cache.db damaged', () => damageTheCache(context));
    await context.measure('disk', 'catalog.db replaced by garbage', () => damageTheCatalog(context));
    await context.measure('disk', 'catalog.db overwritten while it is open', () => damageTheOpenCatalog(context));
    await context.measure('disk', 'DATA_DIR missing', () => removeTheDirectory(context));
    await context.measure('disk', 'the image quota under churn', () => exceedTheQuota(context));
    await context.measure('disk', 'two services on one DATA_DIR', () => shareTheDirectory(context));
  },
};
