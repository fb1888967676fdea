import type { Effort } from '../images/encoder/job.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type Change, type Changes, concernsPicture } from '../store/changes.ts';
import { refinementKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';

/**
 * `kept`: a smaller picture of the same visual quality is stored. `rejected`: re-encoding gave no such picture, or
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
/** About 10,000 pictures. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The object of an entry and the cache's own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 300;
/** As long as a picture may be served. */
const KEPT_MS = 7 * 86_400_000;

interface Progress {
  responses: number;
  /** Monotonic. */
  notBeforeMs: number;
  state: 'fast' | 'running' | 'kept' | 'rejected';
}

export type ReEncoding = ReturnType<typeof createReEncoding>;

/** Decides which pictures are requested often enough for a slow encode. */
export function createReEncoding({ store, changes, runtime }: ReEncodingOptions) {
  const { clock, failureLog, holders } = runtime;
  const progress = createMemoryCache<Progress, Change>({
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
    const begun: Progress = { responses: 0, notBeforeMs: clock.monotonic() + MIN_AGE_MS, state };
    progress.set(pictureKey, begun);
    return begun;
  }

  async function progressOf(pictureKey: string): Promise<Progress> {
    const known = progress.get(pictureKey);
    if (known !== undefined) return known;
    const stored = await store.get(refinementKey(pictureKey));
    const state = stored?.value === 'kept' || stored?.value === 'rejected' ? stored.value : 'fast';
    return progress.get(pictureKey) ?? begin(pictureKey, state);
  }

  async function run(pictureKey: string, current: Progress, reEncode: () => Promise<ReEncodeOutcome>): Promise<void> {
    current.state = 'running';
    const outcome = await reEncode().catch((error: unknown) => {
      reportFailure(error);
      return 'rejected' as const;
    });
    if (outcome === 'kept' || outcome === 'rejected') {
      current.state = outcome;
      await store.set(refinementKey(pictureKey), { value: outcome, storedAtMs: clock.now() }, KEPT_MS);
      return;
    }
    current.state = 'fast';
    if (outcome === 'unavailable') current.notBeforeMs = clock.monotonic() + RETRY_UNAVAILABLE_MS;
  }

  return {
    /** The encoding to send: `optimized` once a smaller one is stored. */
    async encodingOf(pictureKey: string): Promise<Effort> {
      return (await progressOf(pictureKey)).state === 'kept' ? 'optimized' : 'fast';
    },

    /** Counts a response with the fast encoding. Runs `reEncode` once, from the third response and one minute on. */
    noteFastResponse(pictureKey: string, reEncode: () => Promise<ReEncodeOutcome>): void {
      const current = progress.get(pictureKey);
      if (current === undefined) return;
      current.responses += 1;
      const isDue = current.responses >= MIN_RESPONSES && clock.monotonic() >= current.notBeforeMs;
      if (isDue && current.state === 'fast') run(pictureKey, current, reEncode).catch(reportFailure);
    },

    /** The optimized encoding is no longer stored: its picture starts again without responses. */
    noteLost(pictureKey: string): void {
      if (progress.get(pictureKey)?.state === 'kept') begin(pictureKey, 'fast');
    },
  };
}
