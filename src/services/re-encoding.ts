import { compactCopy } from '../lib/compact-copy.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type Changes, concernsPicture } from '../store/changes.ts';
import { refinementKey } from '../store/keys.ts';
import { createMemoryTier } from '../store/memory-tier.ts';
import type { Store } from '../store/store.ts';

/** Which encoding of a picture goes out: the quick one that its first client waited for, or the smaller one made later. */
export type Generation = 'quick' | 'refined';

export interface ReEncoding {
  encodingOf(pictureKey: string): Promise<Generation>;
  /** Counts an answer with the quick encoding; from the third on, and a minute after the first, `refine` is run once. */
  noteFastResponse(pictureKey: string, refine: () => Promise<ReEncodeOutcome>): void;
  /** The smaller encoding is not stored any more: the picture starts again as one that nobody has asked for. */
  noteLost(pictureKey: string): void;
}

/**
 * `kept`: a smaller picture that looks no worse is stored. `rejected`: there is none. `interrupted`: the encoder was
 * needed for somebody who waits; the next answer tries again. `unavailable`: the original could not be had; an answer
 * ten minutes later tries again. A failure counts as `rejected`: the same encode would fail again.
 */
export type ReEncodeOutcome = 'kept' | 'rejected' | 'interrupted' | 'unavailable';

export interface ReEncodingOptions {
  readonly store: Store;
  readonly changes: Changes;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'holders'>;
}

const MIN_ANSWERS = 3;
const MIN_AGE_MS = 60_000;
const RETRY_UNAVAILABLE_MS = 600_000;
/** Some 10,000 pictures. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The object of an entry and the cache's own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 300;
/** As long as a picture may be served. */
const KEPT_MS = 7 * 86_400_000;

interface Progress {
  answers: number;
  /** Monotonic. */
  notBeforeMs: number;
  state: 'quick' | 'refining' | 'kept' | 'rejected';
}

/** Remembers which pictures are asked for often enough to be worth a slow encode. */
export function createReEncoding({ store, changes, runtime }: ReEncodingOptions): ReEncoding {
  const { clock, failureLog, holders } = runtime;
  const progress = createMemoryTier<Progress>({
    changes,
    maxBytes: MAX_BYTES,
    sizeOf: (_, pictureKey) => ENTRY_OVERHEAD_BYTES + pictureKey.length,
    concerns: concernsPicture,
  });
  holders.add('pictures to encode again', progress.stats);

  function reportFailure(error: unknown): void {
    const message = 'a picture could not be encoded again';
    failureLog.report({ level: 'warn', key: message, message, fields: { err: error } });
  }

  function begin(pictureKey: string, state: Progress['state']): Progress {
    const begun: Progress = { answers: 0, notBeforeMs: clock.monotonic() + MIN_AGE_MS, state };
    progress.set(compactCopy(pictureKey), begun);
    return begun;
  }

  async function progressOf(pictureKey: string): Promise<Progress> {
    const known = progress.get(pictureKey);
    if (known !== undefined) return known;
    const stored = await store.get(refinementKey(pictureKey));
    const state = stored?.value === 'kept' || stored?.value === 'rejected' ? stored.value : 'quick';
    return progress.get(pictureKey) ?? begin(pictureKey, state);
  }

  async function outcomeOf(refine: () => Promise<ReEncodeOutcome>): Promise<ReEncodeOutcome> {
    try {
      return await refine();
    } catch (error) {
      reportFailure(error);
      return 'rejected';
    }
  }

  async function run(pictureKey: string, current: Progress, refine: () => Promise<ReEncodeOutcome>): Promise<void> {
    current.state = 'refining';
    const outcome = await outcomeOf(refine);
    if (outcome === 'kept' || outcome === 'rejected') {
      current.state = outcome;
      await store.set(refinementKey(pictureKey), { value: outcome, storedAtMs: clock.now() }, KEPT_MS);
      return;
    }
    current.state = 'quick';
    if (outcome === 'unavailable') current.notBeforeMs = clock.monotonic() + RETRY_UNAVAILABLE_MS;
  }

  return {
    async encodingOf(pictureKey) {
      return (await progressOf(pictureKey)).state === 'kept' ? 'refined' : 'quick';
    },

    noteFastResponse(pictureKey, refine) {
      const current = progress.get(pictureKey);
      if (current === undefined) return;
      current.answers += 1;
      const isDue = current.answers >= MIN_ANSWERS && clock.monotonic() >= current.notBeforeMs;
      if (isDue && current.state === 'quick') run(pictureKey, current, refine).catch(reportFailure);
    },

    noteLost(pictureKey) {
      if (progress.get(pictureKey)?.state === 'kept') begin(pictureKey, 'quick');
    },
  };
}
