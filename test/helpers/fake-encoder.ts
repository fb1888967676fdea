import type { Encoder } from '../../src/images/encoder/encoder.ts';
import type { EncodeJob, PictureInfo } from '../../src/images/encoder/job.ts';

/** A 16:9 picture that needs no work. */
const INFO: PictureInfo = { width: 2560, height: 1440, format: 'png', hasAlpha: false, isWebReady: true };

/** For tests that pixels do not matter to: what it makes says what was asked for. */
export function createFakeEncoder(): Encoder & { readonly jobs: EncodeJob[] } {
  const jobs: EncodeJob[] = [];
  return {
    jobs,
    inspect: async () => INFO,
    async encode(job) {
      jobs.push(job);
      const { original: _bytes, ...what } = job;
      return Buffer.from(JSON.stringify(what));
    },
    refine: async () => undefined,
    stats: () => ({ queued: 0, running: 0, processes: 0, refused: 0, restarts: 0 }),
    warmUp: () => undefined,
    close: async () => undefined,
  };
}
