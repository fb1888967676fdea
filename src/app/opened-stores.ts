import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { createHolders } from '../lib/holders.ts';
import { createLogger } from '../lib/logger.ts';
import { createTroubleLog } from '../lib/trouble-log.ts';
import { createPurge } from '../services/purge.ts';
import { createPartStates } from './component-health.ts';
import { createStoreRemovals } from './removals.ts';
import { createStores } from './stores.ts';

/** The service's stores for a command that empties them, whether the service runs or not. */
export async function openStores(config: Config) {
  const logger = createLogger({ level: 'silent' });
  const clock = systemClock;
  const states = createPartStates(logger, clock);
  const troubles = createTroubleLog({ logger, clock });
  const stores = await createStores({ config, clock, logger, troubles, states, holders: createHolders() });
  const removals = createStoreRemovals(stores, clock, states);
  return {
    purge: createPurge({ ...stores, removals }),
    /** Why a part cannot be used at the moment. */
    problems: () => states.problems().map(([part, problem]) => `${part}: ${problem}`),
    async close() {
      await removals.close();
      await stores.close();
    },
  };
}
