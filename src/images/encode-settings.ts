import { type EncoderOptions, type Format, formatRow } from '../domain/formats.ts';

/** An original with more pixels is refused. */
export const MAX_ORIGINAL_PIXELS = 50_000_000;

/** `fast` is for a client that waits; `optimized` takes longer, needs fewer bytes and looks the same. */
export type Effort = 'fast' | 'optimized';

/** The options for the encoder library. `quality` replaces the format's own and has no effect on a lossless format. */
export function encoderOptions(format: Format, effort: Effort, quality: number | undefined): EncoderOptions {
  const row = formatRow(format);
  if (row.quality === undefined) return row[effort];
  const step = effort === 'optimized' ? (row.optimizedQualityStep ?? 0) : 0;
  return { ...row[effort], quality: Math.max(1, (quality ?? row.quality) - step) };
}
