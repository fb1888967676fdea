import type { Size, Variant } from '../../src/domain/variants.ts';
import { pngOf } from './bare-png.ts';

/** An original of unusual size, and the pixels that each variant of it has. */
export interface Shape {
  readonly name: string;
  /** One pixel wide or high. */
  readonly isExtreme: boolean;
  readonly expected: Readonly<Record<Exclude<Variant, 'avatar'>, `${number}×${number}`>>;
  make(): Buffer;
}

/** Computed by hand from the table in docs/images.md: fractions of a 16:9 banner, otherwise the largest area of the ratio. */
export const SHAPES: readonly Shape[] = [
  shapeOf(
    { width: 1_280, height: 720 },
    { default: '1280×212', tv: '1280×720', desktop: '1280×212', tablet: '928×212', mobile: '773×212' },
  ),
  shapeOf(
    { width: 1_600, height: 1_200 },
    { default: '1600×264', tv: '1600×900', desktop: '1600×264', tablet: '1600×365', mobile: '1600×438' },
  ),
  shapeOf(
    { width: 2_520, height: 1_080 },
    { default: '2520×416', tv: '1920×1080', desktop: '2520×416', tablet: '2520×575', mobile: '2520×689' },
  ),
  shapeOf(
    { width: 1_000, height: 1_000 },
    { default: '1000×165', tv: '1000×563', desktop: '1000×165', tablet: '1000×228', mobile: '1000×274' },
  ),
  shapeOf(
    { width: 900, height: 1_600 },
    { default: '900×149', tv: '900×506', desktop: '900×149', tablet: '900×205', mobile: '900×246' },
  ),
  shapeOf(
    { width: 2_560, height: 423 },
    { default: '2560×423', tv: '752×423', desktop: '2560×423', tablet: '1855×423', mobile: '1546×423' },
  ),
  shapeOf({ width: 5_000, height: 1 }, { default: '6×1', tv: '2×1', desktop: '6×1', tablet: '4×1', mobile: '4×1' }),
  shapeOf({ width: 1, height: 5_000 }, { default: '1×1', tv: '1×1', desktop: '1×1', tablet: '1×1', mobile: '1×1' }),
  shapeOf({ width: 1, height: 1 }, { default: '1×1', tv: '1×1', desktop: '1×1', tablet: '1×1', mobile: '1×1' }),
];

function shapeOf(size: Size, expected: Shape['expected']): Shape {
  const isExtreme = Math.min(size.width, size.height) === 1;
  return { name: `${size.width}×${size.height}`, isExtreme, expected, make: () => pngOf(size) };
}
