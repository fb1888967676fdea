import type { Subject } from './context.ts';
import { denyTheDirectory, exceedTheQuota, removeTheDirectory, shareTheDirectory } from './disk-access.ts';
import { damageTheCache, damageTheCatalog } from './disk-damage.ts';
import { loseTheDisk } from './disk-space.ts';

/** What the disk may do to the service, and other processes on it. */
export const disk: Subject = {
  name: 'disk',
  async run(context) {
    await loseTheDisk(context);
    await damageTheCache(context);
    await damageTheCatalog(context);
    await denyTheDirectory(context);
    await removeTheDirectory(context);
    await exceedTheQuota(context);
    await shareTheDirectory(context);
  },
};
