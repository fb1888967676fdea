import sharp from 'sharp';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import type { EncodeJob } from '../../src/images/encoder/job.ts';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';

/** An encode that takes many seconds: noise compresses badly. */
export async function slowJob(size = { width: 3600, height: 2800 }): Promise<EncodeJob> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const bytes = await sharp({ create: { ...size, channels: 3, background: 'grey', noise } })
    .jpeg()
    .toBuffer();
  const crop = { left: 0, top: 0, ...size };
  return {
    readOriginal: async () => bytes,
    originalSize: size,
    crop,
    output: size,
    format: 'avif',
    quality: 100,
  };
}

/** A process that replaces the server in tests that kill it. It starts one encoder, reports its events and keeps it busy. */
if (import.meta.main) {
  const onEvent = (event: object) => process.send?.(event);
  const encoder = createEncoder({ processes: 1, deadlineMs: 120_000, onEvent });
  await encoder.encode(await slowJob(), NEVER_ABORTED);
}
