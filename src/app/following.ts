import type { Config } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { createPurge, type Purge } from '../services/purge.ts';
import { createCatalogWatch } from '../sources/catalog/change-log.ts';
import { catalogPaths } from '../sources/catalog/schema.ts';
import type { AppliedChanges } from './applied-changes.ts';
import { createCatalogFollower } from './catalog-follower.ts';
import { createChangeFollower } from './change-follower.ts';
import type { PartStates } from './component-health.ts';
import { createStoreRemovals } from './removals.ts';
import type { Stores } from './stores.ts';

/** Carries out changes of what is kept: purges, and what other instances and other processes have changed. */
export interface Following {
  readonly purge: Purge;
  /** To be called before anything is looked up for a request; absent where nothing needs it. */
  readonly beforeLookUp: (() => void) | undefined;
  /** Takes over what was changed while this process did not run, and goes on. */
  start(): Promise<void>;
  /** Waits some seconds for what is being removed. */
  stop(): Promise<void>;
}

export interface FollowingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly states: PartStates;
  readonly stores: Stores;
  readonly applied: AppliedChanges;
}

export function createFollowing({ config, clock, logger, states, stores, applied }: FollowingOptions): Following {
  const removals = createStoreRemovals(stores, clock, states);
  const purge = createPurge({ ...stores, removals });
  const onBug = (error: unknown) => logger.error({ err: error }, 'what others have changed cannot be followed: a bug');
  const { sharedChanges } = stores;
  const instances = sharedChanges && createChangeFollower({ clock, sharedChanges, removals, applied, onBug });
  const catalog = config.sources.includes('catalog')
    ? createCatalogFollower({
        watch: createCatalogWatch({
          path: catalogPaths(config.dataDir).database,
          clock,
          start: applied.positions().catalog,
        }),
        clock,
        purge,
        applied,
        onBug,
      })
    : undefined;

  return {
    purge,
    beforeLookUp: catalog?.look,
    async start() {
      await instances?.follow();
      instances?.start();
      catalog?.look();
      catalog?.start();
    },
    async stop() {
      instances?.stop();
      catalog?.stop();
      await removals.close();
    },
  };
}
