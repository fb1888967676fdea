import type { Effort } from '../images/encoder/job.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import type { Runtime } from '../lib/runtime.ts';

/**
 * `kept`: a smaller encoding is stored. `rejected`: re-encoding gave none, or failed and would fail again. `interrupted`:
 * a waiting client needed the encoder, or the original could not be loaded.
 */
export type ReEncodeOutcome = 'kept' | 'rejected' | 'interrupted';

interface ReEncodingOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'holders'>;
}

/** An image that was requested only once, or by one page several times at once, is not encoded again. */
const MIN_AGE_MS = 20_000;
/** About 10,000 images. */
const MAX_BYTES = 4 * 1024 * 1024;
/** The object of an entry and the cache's own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 300;

interface Progress {
  state: 'waiting' | 'running' | ReEncodeOutcome;
  /** Monotonic. */
  readonly notBeforeMs: number;
}

/** The encoding for the next response. */
interface NextEncoding {
  readonly effort: Effort;
  /** False while a smaller encoding may still replace it. */
  readonly isFinal: boolean;
}

export interface ReEncoding {
  /**
   * Returns `optimized` once it is stored. Otherwise starts `reEncode`, in the background, if the first response was at
   * least 20 s ago.
   *
   * @param image.isOptimizedStored called for an image whose progress is not known, and while `optimized` is returned
   */
  nextEffort(image: {
    readonly key: string;
    isOptimizedStored(): Promise<boolean>;
    reEncode(): Promise<ReEncodeOutcome>;
  }): Promise<NextEncoding>;
}

/** Decides which images are encoded again. A restart forgets all progress, but not the stored encodings. */
export function createReEncoding({ runtime }: ReEncodingOptions): ReEncoding {
  const { clock, failureLog, holders } = runtime;
  const images = createMemoryCache<Progress>({
    maxBytes: MAX_BYTES,
    sizeOf: (_, key) => ENTRY_OVERHEAD_BYTES + key.length,
  });
  holders.add('images to encode again', images.stats);

  function startWaiting(key: string): void {
    images.set(key, { state: 'waiting', notBeforeMs: clock.monotonic() + MIN_AGE_MS });
  }

  async function run(key: string, progress: Progress, reEncode: () => Promise<ReEncodeOutcome>): Promise<void> {
    progress.state = 'running';
    try {
      progress.state = await reEncode();
    } catch (error) {
      progress.state = 'rejected';
      const message = 'an image could not be encoded again';
      failureLog.report({ level: 'warn', key: message, message, fields: { err: error } });
    }
    if (progress.state === 'interrupted') startWaiting(key);
  }

  return {
    async nextEffort({ key, isOptimizedStored, reEncode }) {
      const progress = images.get(key);
      if (progress === undefined || progress.state === 'kept') {
        if (await isOptimizedStored()) return { effort: 'optimized', isFinal: true };
        if (images.get(key) === progress) startWaiting(key);
      } else if (progress.state === 'waiting' && clock.monotonic() >= progress.notBeforeMs) {
        void run(key, progress, reEncode);
      }
      return { effort: 'fast', isFinal: progress?.state === 'rejected' };
    },
  };
}
