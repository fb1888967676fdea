import type { Subject } from './context.ts';
import { damageTheCache } from './disk-damage.ts';
import { loseTheDisk } from './disk-loss.ts';

/** Faults of the disk. */
export const disk: Subject = {
  name: 'disk',
  async run(context) {
    // This attack waits for the service to look at its file again.
    const damage = context.measure('disk', 'cache.db damaged', () => damageTheCache(context));
    await loseTheDisk(context);
    await damage;
  },
};
