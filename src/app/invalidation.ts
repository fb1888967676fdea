import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/settings.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createLogger, type Logger } from '../lib/logger.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import { createRuntime, type Runtime } from '../lib/runtime.ts';
import { type Checked, fields, numberIn, optional, parseJson, text } from '../lib/shape.ts';
import { createPurge, RemovalDelayed, takeDown } from '../services/purge.ts';
import { type ChangesSince, createCatalogWatch } from '../sources/catalog/change-log.ts';
import { catalogPaths } from '../sources/catalog/schema.ts';
import { type Change, changeOfChannels } from '../store/changes.ts';
import { type SharedChanges, START } from '../store/shared-changes.ts';
import { createStores, type Stores } from './stores.ts';

/** Applies purges, and the changes of other instances and processes, to all caches. */
export function createInvalidation(
  config: Config,
  runtime: Runtime,
  { stores, applied }: { readonly stores: Stores; readonly applied: ReturnType<typeof openAppliedChanges> },
) {
  const { clock, logger } = runtime;
  const { sharedChanges } = stores;
  const purge = createPurge(stores, runtime);
  const onBug = (error: unknown) => logger.error({ err: error }, 'changes of others cannot be followed: a bug');
  const applyOfInstances = createApplier(onBug);
  const applyOfCatalog = createApplier(onBug);
  const watch = config.sources.includes('catalog')
    ? createCatalogWatch({
        path: catalogPaths(config.dataDir).database,
        clock,
        start: applied.positions().catalog,
        // When it returns, memory no longer returns what a change has removed.
        onChanges({ position, changes }) {
          applyOfCatalog(changesOf(changes).map(purge.apply), () => applied.save({ catalog: position }));
        },
      })
    : undefined;
  const stops: (() => void)[] = [];
  /** The position in the changes of other instances whose removals have begun. */
  let reached = applied.positions().redis ?? START;

  /** Applies the changes that other instances have published. Does nothing while Redis is unavailable. */
  async function followInstances({ receive, position }: SharedChanges): Promise<void> {
    try {
      const received = await receive();
      const newPosition = position();
      if (received.length === 0 && newPosition === reached) return;
      reached = newPosition;
      // The next read does not wait until files are removed.
      applyOfInstances(
        received.length === 0 ? [] : [purge.remove(received)],
        () => newPosition !== START && applied.save({ redis: newPosition }),
      );
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) onBug(error);
    }
  }

  return {
    purge,
    /** To be called before the first lookup of a request. Absent without a catalog. */
    beforeLookUp: watch?.check,
    /** Applies the changes that were made while this process did not run, then follows further ones. Starts take-downs. */
    async start(): Promise<void> {
      if (sharedChanges !== undefined) {
        await followInstances(sharedChanges);
        stops.push(repeat(clock, INSTANCES_INTERVAL_MS, () => followInstances(sharedChanges)));
      }
      if (watch !== undefined) {
        watch.start();
        stops.push(repeat(clock, CATALOG_INTERVAL_MS, watch.check));
      }
      void takeDown(purge, config.blockedChannels, logger);
    },
    /** Waits some seconds for pending removals. */
    async stop(): Promise<void> {
      for (const stop of stops) stop();
      watch?.close();
      await purge.close();
    },
  };
}

/** A change must reach every instance within 2 s, even if three reads fail. */
const INSTANCES_INTERVAL_MS = 500;
const CATALOG_INTERVAL_MS = 1_000;

/** @returns a function that ends the repetition */
function repeat(clock: Clock, intervalMs: number, check: () => Promise<void> | undefined): () => void {
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

/**
 * Saves the position of changes once they are removed, including all changes before them. A delayed removal delays the
 * positions: the next start applies the changes again if this process ends before a retry succeeds.
 */
function createApplier(onBug: (error: unknown) => void) {
  let allRemoved: Promise<unknown> = Promise.resolve();

  function untilRemoved(removal: Promise<unknown>): Promise<unknown> {
    return removal.catch((error: unknown) => {
      if (error instanceof RemovalDelayed) return error.removed;
      onBug(error);
      throw error;
    });
  }

  return (removals: readonly Promise<unknown>[], savePosition: () => void): void => {
    // Removals overlap, and a position includes all changes before it.
    allRemoved = Promise.all([allRemoved, ...removals.map(untilRemoved)]).then(savePosition);
    // No position is saved after a bug.
    allRemoved.catch(() => undefined);
  };
}

const isPositions = fields({
  /** In the changes that instances share in Redis. */
  redis: optional(text(/^\d{1,16}-\d{1,16}$/)),
  /** In the catalog's own list of changes. */
  catalog: optional(fields({ id: text(/^[0-9a-f]{1,32}$/), sequence: numberIn(0, Number.MAX_SAFE_INTEGER) })),
});

/** The positions up to which changes have been applied to a `DATA_DIR`. */
export type AppliedPositions = Partial<Checked<typeof isPositions>>;

/** Stores the positions for the next start. */
export function openAppliedChanges(dataDir: string, logger: Logger) {
  const path = join(dataDir, 'applied-changes.json');
  let positions = readPositions(path);
  let isReported = false;

  return {
    positions: () => positions,
    /** Changes some of the positions. A failure is reported once. Changes are then applied again at the next start. */
    save(changed: AppliedPositions): void {
      positions = { ...positions, ...changed };
      try {
        mkdirSync(dataDir, { recursive: true });
        writeFileSync(`${path}.tmp`, JSON.stringify(positions));
        renameSync(`${path}.tmp`, path);
      } catch (error) {
        if (!isReported)
          logger.warn({ err: error }, 'applied changes cannot be saved: the next start applies them again');
        isReported = true;
      }
    },
  };
}

/** Empty if the file is missing, unreadable or not written by the service. */
function readPositions(path: string): AppliedPositions {
  try {
    return parseJson(readFileSync(path, 'utf8'), isPositions) ?? {};
  } catch {
    return {};
  }
}

/** For a catalog whose list of changes is incomplete. */
const ALL_RECORDS: Change = { channelIds: 'all', names: new Set(), searches: 'all', includesImages: false };

/** The images of a replaced channel stay: its new record says whether they have changed. */
function changesOf(changes: ChangesSince['changes']): Change[] {
  if (changes === 'unknown') return [ALL_RECORDS];
  const groups = Object.groupBy(changes, ({ isRemoved }) => (isRemoved ? 'removed' : 'replaced'));
  return Object.entries(groups).map(([kind, group]) =>
    changeOfChannels(new Set(group.map(({ channelId }) => channelId)), {
      names: new Set(group.flatMap(({ names }) => names)),
      searches: 'all',
      includesImages: kind === 'removed',
    }),
  );
}

/** The service's stores for a command that clears them, whether the service runs or not. */
export async function openPurge(config: Config) {
  const runtime = createRuntime({ clock: systemClock, logger: createLogger({ level: 'silent' }) });
  const stores = await createStores(config, runtime, { isPatient: true });
  const purge = createPurge(stores, runtime);
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
