import type { Format } from '../../src/domain/formats.ts';
import type { Variant } from '../../src/domain/variants.ts';
import { createRandom, createZipf, type Random } from './zipf.ts';

/** A request: a channel by its rank, and its record or one of its pictures. */
export interface SimulatedRequest {
  readonly rank: number;
  readonly picture: SimulatedPicture | undefined;
}

export interface SimulatedPicture {
  readonly variant: Variant;
  readonly format: Format;
  readonly bytes: number;
}

const KIB = 1024;

/** Shares are an assumption; sizes are those of photographs at default quality (docs/images.md), by area. */
export const PICTURES: ReadonlyArray<SimulatedPicture & { readonly share: number }> = [
  { variant: 'avatar', format: 'webp', bytes: 60 * KIB, share: 0.3 },
  { variant: 'avatar', format: 'jpeg', bytes: 75 * KIB, share: 0.1 },
  { variant: 'default', format: 'avif', bytes: 60 * KIB, share: 0.25 },
  { variant: 'default', format: 'webp', bytes: 90 * KIB, share: 0.1 },
  { variant: 'default', format: 'jpeg', bytes: 111 * KIB, share: 0.05 },
  { variant: 'mobile', format: 'avif', bytes: 36 * KIB, share: 0.1 },
  { variant: 'tv', format: 'avif', bytes: 200 * KIB, share: 0.1 },
];

export interface TrafficOptions {
  readonly channels: number;
  /** The exponent of Zipf's law. */
  readonly exponent: number;
  /** The share of all requests. The others are for records. */
  readonly pictureShare: number;
  readonly seed: number;
}

export function createTraffic(options: TrafficOptions): () => SimulatedRequest {
  const random = createRandom(options.seed);
  const nextRank = createZipf({ count: options.channels, exponent: options.exponent }, random);
  return () => ({
    rank: nextRank(),
    picture: random() < options.pictureShare ? pick(random) : undefined,
  });
}

function pick(random: Random): SimulatedPicture {
  let left = random();
  for (const picture of PICTURES) {
    left -= picture.share;
    if (left < 0) return picture;
  }
  return PICTURES[0] as SimulatedPicture;
}
