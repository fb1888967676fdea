import type { Format } from '../domain/formats.ts';

/** An original with more pixels is refused. */
export const MAX_ORIGINAL_PIXELS = 50_000_000;

/** `quick` is what a waiting client gets; `high` takes its time for fewer bytes at the same look. */
export type Effort = 'quick' | 'high';

/** Options of the encoder library, by its own names: sharp.pixelplumbing.com/api-output (0.35, seen 2026-11). */
type FormatOptions = Readonly<Record<string, number | boolean | string>>;

interface FormatSettings {
  /** 1–100 on the format's own scale; by these, formats look alike (docs/images.md). `undefined`: lossless. */
  readonly quality: number | undefined;
  readonly options: Readonly<Record<Effort, FormatOptions>>;
  /** How much lower `high` may set the quality and still look no worse than `quick` on most pictures (docs/images.md). */
  readonly highQualityStep?: number;
  /** The most pixels in a row or column that the library encodes. */
  readonly maxSide: number;
}

const SETTINGS: Readonly<Record<Format, FormatSettings>> = {
  avif: {
    quality: 60,
    options: { quick: { effort: 0, chromaSubsampling: '4:2:0' }, high: { effort: 3, chromaSubsampling: '4:2:0' } },
    highQualityStep: 6,
    // libvips: heifsave.
    maxSide: 16_384,
  },
  // RFC 9649 section 2.5: 14 bits.
  webp: { quality: 82, options: { quick: { effort: 2 }, high: { effort: 4 } }, maxSide: 16_383 },
  // The same pixels either way: the best Huffman tables take a second pass over all of the picture.
  jpeg: {
    quality: 80,
    options: { quick: { optimiseCoding: false }, high: { optimiseScans: true } },
    // libjpeg-turbo: JPEG_MAX_DIMENSION.
    maxSide: 65_500,
  },
  png: {
    quality: undefined,
    options: {
      quick: { compressionLevel: 2, adaptiveFiltering: true },
      high: { compressionLevel: 9, adaptiveFiltering: true },
    },
    // PNG, third edition, section 11.2.1: 31 bits. More than any original has pixels.
    maxSide: 2 ** 31 - 1,
  },
};

/** The quality that a picture of this format has when none is asked for; `undefined` where the format has none. */
export function defaultQuality(format: Format): number | undefined {
  return SETTINGS[format].quality;
}

/** A picture of this format has no row or column longer than this, in pixels. */
export function maxSideOf(format: Format): number {
  return SETTINGS[format].maxSide;
}

/** What the encoder library is told. A `quality` of the client's goes before the default and does nothing on PNG. */
export function encoderOptions(format: Format, effort: Effort, quality: number | undefined): FormatOptions {
  const settings = SETTINGS[format];
  if (settings.quality === undefined) return settings.options[effort];
  const step = effort === 'high' ? (settings.highQualityStep ?? 0) : 0;
  return { ...settings.options[effort], quality: Math.max(1, (quality ?? settings.quality) - step) };
}
