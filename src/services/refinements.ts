import { LRUCache } from 'lru-cache';
import { refinementKey } from '../cache/keys.ts';
import type { Store } from '../cache/store.ts';
import type { Clock } from '../lib/clock.ts';

/** Which encoding of a picture goes out: the quick one that its first client waited for, or the smaller one made later. */
export type Generation = 'quick' | 'refined';

export interface Refinements {
  generationOf(pictureKey: string): Promise<Generation>;
  /** Counts an answer with the quick encoding; from the third on, and a minute after the first, `refine` is run once. */
  noteQuickAnswer(pictureKey: string, refine: () => Promise<RefineOutcome>): void;
}

/**
 * `kept`: a smaller picture that looks no worse is stored. `rejected`: there is none. `interrupted`: the encoder was
 * needed for somebody who waits; a later answer tries again.
 */
export type RefineOutcome = 'kept' | 'rejected' | 'interrupted';

export interface RefinementsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

const MIN_ANSWERS = 3;
const MIN_AGE_MS = 60_000;
const REMEMBERED_PICTURES = 50_000;
/** As long as a picture may be served. */
const KEPT_MS = 7 * 86_400_000;

interface Progress {
  readonly firstAnswerAtMs: number;
  answers: number;
  state: 'quick' | 'refining' | 'kept' | 'rejected';
}

/** Remembers which pictures are asked for often enough to be worth a slow encode. */
export function createRefinements({ store, clock, onError }: RefinementsOptions): Refinements {
  // `max` would make room for all of them at the start.
  const progress = new LRUCache<string, Progress>({ maxSize: REMEMBERED_PICTURES, sizeCalculation: () => 1 });

  async function progressOf(pictureKey: string): Promise<Progress> {
    const known = progress.get(pictureKey);
    if (known !== undefined) return known;
    const stored = await store.get(refinementKey(pictureKey));
    const state = stored?.value === 'kept' || stored?.value === 'rejected' ? stored.value : 'quick';
    const begun: Progress = progress.get(pictureKey) ?? { firstAnswerAtMs: clock.monotonic(), answers: 0, state };
    progress.set(pictureKey, begun);
    return begun;
  }

  async function run(pictureKey: string, current: Progress, refine: () => Promise<RefineOutcome>): Promise<void> {
    current.state = 'refining';
    try {
      const outcome = await refine();
      current.state = outcome === 'interrupted' ? 'quick' : outcome;
      if (outcome === 'interrupted') return;
      await store.set(refinementKey(pictureKey), { value: outcome, storedAtMs: clock.now() }, KEPT_MS);
    } catch (error) {
      current.state = 'rejected';
      onError(error);
    }
  }

  return {
    async generationOf(pictureKey) {
      return (await progressOf(pictureKey)).state === 'kept' ? 'refined' : 'quick';
    },

    noteQuickAnswer(pictureKey, refine) {
      const current = progress.get(pictureKey);
      if (current === undefined) return;
      current.answers += 1;
      const isDue = current.answers >= MIN_ANSWERS && clock.monotonic() - current.firstAnswerAtMs >= MIN_AGE_MS;
      if (isDue && current.state === 'quick') void run(pictureKey, current, refine);
    },
  };
}
