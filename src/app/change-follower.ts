import type { Clock } from '../lib/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import type { Removed } from '../services/purge.ts';
import { RemovalDelayed, type Removals } from '../services/removals.ts';
import { type SharedChanges, START } from '../store/shared-changes.ts';
import type { AppliedChanges } from './applied-changes.ts';

/** Carries out here what other instances have purged, taken down or imported. */
export interface ChangeFollower {
  /** Looks once. Never rejects while Redis is not there. */
  follow(): Promise<void>;
  /** Looks again and again. */
  start(): void;
  stop(): void;
}

export interface ChangeFollowerOptions {
  readonly clock: Clock;
  readonly sharedChanges: SharedChanges;
  readonly removals: Pick<Removals<Removed>, 'remove'>;
  readonly applied: AppliedChanges;
  readonly onBug: (error: unknown) => void;
}

/** A change has to be everywhere within 2 s: a look may fail three times. */
const INTERVAL_MS = 500;

export function createChangeFollower(options: ChangeFollowerOptions): ChangeFollower {
  const { clock, sharedChanges, removals, applied, onBug } = options;
  let cancelNext: () => void = () => undefined;
  let isStopped = false;
  let isComplete = true;

  async function remove(received: Awaited<ReturnType<SharedChanges['receive']>>): Promise<void> {
    const position = sharedChanges.position();
    try {
      if (received.length > 0) await removals.remove(received);
    } catch (error) {
      // Tried again while this process runs; the next one begins with it.
      isComplete = false;
      if (!(error instanceof RemovalDelayed)) throw error;
    }
    const saved = applied.positions().redis ?? START;
    if (isComplete && position !== START && position !== saved) {
      applied.save({ redis: position });
    }
  }

  async function follow(): Promise<void> {
    try {
      // What it takes to remove files must not hold up the next look.
      void remove(await sharedChanges.receive()).catch(onBug);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  }

  function schedule(): void {
    if (isStopped) return;
    cancelNext = clock.after(INTERVAL_MS, () => void follow().catch(onBug).finally(schedule));
  }

  return {
    follow,
    start: schedule,
    stop() {
      isStopped = true;
      cancelNext();
    },
  };
}
