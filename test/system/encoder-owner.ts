import sharp from 'sharp';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';
import { createManualClock } from '../helpers/clock.ts';

/** A process that replaces the server in tests that kill it. It starts one encoder, reports its events and keeps it busy. */
const onEvent = (event: object) => process.send?.(event);
const encoder = createEncoder({ processes: 1, clock: createManualClock(), onEvent });

// An encode that takes many seconds: noise compresses badly.
const size = { width: 3600, height: 2800 };
const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const bytes = await sharp({ create: { ...size, channels: 3, background: 'grey', noise } })
  .jpeg()
  .toBuffer();
await encoder.encode(
  {
    readOriginal: async () => bytes,
    originalSize: size,
    crop: { left: 0, top: 0, ...size },
    output: size,
    format: 'avif',
    quality: 100,
  },
  NEVER_ABORTED,
);
