import type { Config } from '../config/settings.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createLogger } from '../lib/logger.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import { createRuntime, type Runtime } from '../lib/runtime.ts';
import { withinMs } from '../lib/work.ts';
import { createPurge, RemovalDelayed } from '../services/purge.ts';
import { fingerprint } from '../store/keys.ts';
import { removalOf } from '../store/removal.ts';
import type { SharedStore } from '../store/store.ts';
import type { SavedRemovals } from './saved-removals.ts';
import { createStores, type Stores } from './stores.ts';

/** Removes what purges, take-downs and other instances make old. */
export function createInvalidation(
  config: Config,
  runtime: Runtime,
  { stores, saved }: { readonly stores: Stores; readonly saved: SavedRemovals },
) {
  const { clock, logger } = runtime;
  const { sharedStore } = stores;
  const purge = createPurge({ stores, runtime, onUnfinished: (unfinished) => saved.save({ unfinished }) });
  const stops: (() => void)[] = [];

  /** A failed removal is repeated, and shown in `/readyz` until it succeeds. */
  async function inBackground(removal: Promise<unknown>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      if (!(error instanceof RemovalDelayed)) logger.error({ err: error }, 'data cannot be removed: a bug');
    }
  }

  /** Begins to remove the images of channels that other instances have erased. Does nothing while Redis is unavailable. */
  async function followInstances(store: SharedStore): Promise<{ readonly removing?: Promise<void> }> {
    try {
      const removals = await store.receive();
      const removing = inBackground(purge.removeImages(removals.filter(({ includesImages }) => includesImages)));
      const position = store.position();
      if (position !== saved.state().redis) saved.save({ redis: position });
      return { removing };
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) logger.error({ err: error }, 'instances cannot be followed: a bug');
      return {};
    }
  }

  async function takeDown(blocked: readonly string[]): Promise<void> {
    const takenDown = blocked.length === 0 ? '' : fingerprint(blocked.join());
    if (takenDown === saved.state().takenDown) return;
    const removing = purge.remove(removalOf(blocked));
    saved.save({ takenDown });
    const { entries, images, imageBytes } = await removing;
    if (images > 0 || Object.keys(entries).length > 0)
      logger.info({ entries, images, imageBytes }, 'removed what was stored of blocked channels');
  }

  return {
    purge,
    /** Applies what has happened while this process did not run, then follows what happens. Starts take-downs. */
    async start(): Promise<void> {
      const removing: (Promise<void> | undefined)[] = [inBackground(purge.resume(saved.state().unfinished))];
      if (sharedStore !== undefined) {
        removing.push((await followInstances(sharedStore)).removing);
        stops.push(repeat(clock, INSTANCES_INTERVAL_MS, () => followInstances(sharedStore)));
      }
      removing.push(inBackground(takeDown(config.blockedChannels)));
      // The end of a removal is the end of an epoch: what the first requests load would not be kept.
      await withinMs(clock, Promise.all(removing), START_WAIT_MS);
    },
    /** Waits some seconds for pending removals. */
    async stop(): Promise<void> {
      for (const stop of stops) stop();
      await purge.close();
    },
  };
}

const START_WAIT_MS = 1_000;
/** A change must reach every instance within 2 s, even if three reads fail. */
const INSTANCES_INTERVAL_MS = 500;

/** @returns a function that ends the repetition */
function repeat(clock: Clock, intervalMs: number, check: () => Promise<unknown>): () => void {
  let cancelNext = schedule();
  let isStopped = false;

  function schedule(): () => void {
    return clock.after(intervalMs, async () => {
      await check();
      if (!isStopped) cancelNext = schedule();
    });
  }

  return () => {
    isStopped = true;
    cancelNext();
  };
}

/** The service's stores for a command that clears them, whether the service runs or not. */
export async function openPurge(config: Config) {
  const runtime = createRuntime({ clock: systemClock, logger: createLogger({ level: 'silent' }) });
  const stores = await createStores(config, runtime, { isPatient: true });
  const purge = createPurge({ stores, runtime });
  return {
    purge,
    /** Why a component cannot be used at the moment. */
    problems: () =>
      runtime.health
        .problems()
        // The failed removal itself, which a command does not try again.
        .filter(([component]) => component !== 'removal')
        .map(([component, problem]) => `${component}: ${problem}`),
    async close() {
      await purge.close();
      await stores.close();
    },
  };
}
