import type { Effort } from '../images/encoder/job.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type Change, type Changes, concernsImage } from '../store/changes.ts';
import { refinementKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';

/**
 * `kept`: a smaller image of the same visual quality is stored. `rejected`: re-encoding gave no such image, or
 * failed and would fail again. `interrupted`: a waiting client needed the encoder; the next response tries again.
 * `unavailable`: the original could not be loaded; a response ten minutes later tries again.
 */
export type ReEncodeOutcome = 'kept' | 'rejected' | 'interrupted' | 'unavailable';

interface ReEncodingOptions {
  readonly store: Store;
  readonly changes: Changes;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'holders'>;
}

const MIN_RESPONSES = 3;
const MIN_AGE_MS = 60_000;
const RETRY_UNAVAILABLE_MS = 600_000;
/** About 10,000 images. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The object of an entry and the cache's own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 300;
/** As long as an image may be served. */
const KEPT_MS = 7 * 86_400_000;

interface Progress {
  responses: number;
  /** Monotonic. */
  notBeforeMs: number;
  state: 'fast' | 'running' | 'kept' | 'rejected';
}

export type ReEncoding = ReturnType<typeof createReEncoding>;

/** Decides which images are requested often enough for a slow encode. */
export function createReEncoding({ store, changes, runtime }: ReEncodingOptions) {
  const { clock, failureLog, holders } = runtime;
  const progress = createMemoryCache<Progress, Change>({
    changes,
    maxBytes: MAX_BYTES,
    sizeOf: (_, imageKey) => ENTRY_OVERHEAD_BYTES + imageKey.length,
    concerns: concernsImage,
  });
  holders.add('images to encode again', progress.stats);

  function reportFailure(error: unknown): void {
    const message = 'an image could not be encoded again';
    failureLog.report({ level: 'warn', key: message, message, fields: { err: error } });
  }

  function begin(imageKey: string, state: Progress['state']): Progress {
    const begun: Progress = { responses: 0, notBeforeMs: clock.monotonic() + MIN_AGE_MS, state };
    progress.set(imageKey, begun);
    return begun;
  }

  async function progressOf(imageKey: string): Promise<Progress> {
    const known = progress.get(imageKey);
    if (known !== undefined) return known;
    const stored = await store.get(refinementKey(imageKey));
    const state = stored?.value === 'kept' || stored?.value === 'rejected' ? stored.value : 'fast';
    return progress.get(imageKey) ?? begin(imageKey, state);
  }

  async function run(imageKey: string, current: Progress, reEncode: () => Promise<ReEncodeOutcome>): Promise<void> {
    current.state = 'running';
    const outcome = await reEncode().catch((error: unknown) => {
      reportFailure(error);
      return 'rejected' as const;
    });
    if (outcome === 'kept' || outcome === 'rejected') {
      current.state = outcome;
      await store.set(refinementKey(imageKey), { value: outcome, storedAtMs: clock.now() }, KEPT_MS);
      return;
    }
    current.state = 'fast';
    if (outcome === 'unavailable') current.notBeforeMs = clock.monotonic() + RETRY_UNAVAILABLE_MS;
  }

  return {
    /** The encoding to send: `optimized` once a smaller one is stored. */
    async encodingOf(imageKey: string): Promise<Effort> {
      return (await progressOf(imageKey)).state === 'kept' ? 'optimized' : 'fast';
    },

    /** Counts a response with the fast encoding. Runs `reEncode` once, from the third response and one minute on. */
    noteFastResponse(imageKey: string, reEncode: () => Promise<ReEncodeOutcome>): void {
      const current = progress.get(imageKey);
      if (current === undefined) return;
      current.responses += 1;
      const isDue = current.responses >= MIN_RESPONSES && clock.monotonic() >= current.notBeforeMs;
      if (isDue && current.state === 'fast') run(imageKey, current, reEncode).catch(reportFailure);
    },

    /** The optimized encoding is no longer stored: its image starts again without responses. */
    noteLost(imageKey: string): void {
      if (progress.get(imageKey)?.state === 'kept') begin(imageKey, 'fast');
    },
  };
}
