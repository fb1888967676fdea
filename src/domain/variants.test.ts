import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cropOf, type Rectangle, resolveOutput, VARIANTS } from './variants.ts';

const side = fc.integer({ min: 1, max: 9000 });
const sizes = fc.record({ width: side, height: side });
const crops = fc.record({ left: fc.nat(500), top: fc.nat(500), width: side, height: side });
const wantedSide = fc.integer({ min: 1, max: 4096 });

describe('the crop of a variant', () => {
  it.each([
    // An original of 16:9: a centred fraction of it.
    ['tv', 2560, 1440, { left: 0, top: 0, width: 2560, height: 1440 }],
    ['desktop', 2560, 1440, { left: 0, top: 508, width: 2560, height: 423 }],
    ['default', 2560, 1440, { left: 0, top: 508, width: 2560, height: 423 }],
    ['tablet', 2560, 1440, { left: 352, top: 508, width: 1855, height: 423 }],
    ['mobile', 2560, 1440, { left: 507, top: 508, width: 1546, height: 423 }],
    ['desktop', 2048, 1152, { left: 0, top: 407, width: 2048, height: 338 }],
    ['mobile', 2048, 1152, { left: 405, top: 407, width: 1237, height: 338 }],
    ['tv', 2120, 1192, { left: 0, top: 0, width: 2120, height: 1192 }],
    ['tablet', 2120, 1192, { left: 292, top: 421, width: 1536, height: 350 }],
    // Another original: a centred area with the aspect ratio.
    ['tv', 1000, 1000, { left: 0, top: 218, width: 1000, height: 563 }],
    ['desktop', 1000, 1000, { left: 0, top: 417, width: 1000, height: 165 }],
    ['tv', 3000, 500, { left: 1055, top: 0, width: 889, height: 500 }],
    ['mobile', 3000, 500, { left: 586, top: 0, width: 1827, height: 500 }],
    ['avatar', 800, 800, { left: 0, top: 0, width: 800, height: 800 }],
    ['avatar', 900, 600, { left: 150, top: 0, width: 600, height: 600 }],
  ] as const)('%s of an original of %i×%i is centred', (variant, width, height, expected) => {
    expect(cropOf(variant, { width, height })).toEqual(expected);
  });

  it('treats an original within 2 % of 16:9 as a banner, and others as any image', () => {
    expect(cropOf('tv', { width: 1813, height: 1000 })).toMatchObject({ width: 1813, height: 1000 });
    expect(cropOf('tv', { width: 1815, height: 1000 })).toMatchObject({ width: 1778, height: 1000 });
  });

  it('is inside every original, is not empty, and has margins equal within one pixel', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VARIANTS), sizes, (variant, source) => {
        const crop = cropOf(variant, source);
        expectInside(crop, { left: 0, top: 0, ...source });
        expect(Math.abs(source.width - crop.width - 2 * crop.left)).toBeLessThanOrEqual(1);
        expect(Math.abs(source.height - crop.height - 2 * crop.top)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('the output for a requested size', () => {
  const avatar: Rectangle = { left: 0, top: 0, width: 900, height: 900 };

  it.each([
    ['the other side follows', { width: 450 }, { left: 0, top: 0, width: 900, height: 900 }, [450, 450]],
    [
      'a wider ratio cuts top and bottom',
      { width: 400, height: 200 },
      { left: 0, top: 225, width: 900, height: 450 },
      [400, 200],
    ],
    [
      'a taller ratio cuts the sides',
      { width: 200, height: 400 },
      { left: 225, top: 0, width: 450, height: 900 },
      [200, 400],
    ],
    [
      'too large stays as it is',
      { width: 2000, height: 1000 },
      { left: 0, top: 225, width: 900, height: 450 },
      [900, 450],
    ],
    ['no side becomes zero', { width: 4096, height: 1 }, { left: 0, top: 449, width: 900, height: 1 }, [900, 1]],
    ['neither side is enlarged', { width: 1, height: 4096 }, { left: 449, top: 0, width: 1, height: 900 }, [1, 900]],
  ] as const)('%s', (_, wanted, crop, [width, height]) => {
    expect(resolveOutput(avatar, wanted)).toEqual({ crop, output: { width, height } });
  });

  it('is never larger than the crop, and exceeds the requested size by rounding only', () => {
    const wantedSizes = fc.record({ width: fc.option(wantedSide), height: fc.option(wantedSide) });
    fc.assert(
      fc.property(crops, wantedSizes, (crop, { width, height }) => {
        const wanted = { ...(width === null ? {} : { width }), ...(height === null ? {} : { height }) };
        const resolved = resolveOutput(crop, wanted);
        expectInside(resolved.crop, crop);
        expect(resolved.output.width).toBeGreaterThanOrEqual(1);
        expect(resolved.output.height).toBeGreaterThanOrEqual(1);
        expect(resolved.output.width).toBeLessThanOrEqual(resolved.crop.width);
        expect(resolved.output.height).toBeLessThanOrEqual(resolved.crop.height);
        if (width !== null) expect(resolved.output.width).toBeLessThanOrEqual(width);
        if (height !== null) expect(resolved.output.height).toBeLessThanOrEqual(height);
      }),
    );
  });

  it('is scaled down until no side is longer than 4,096 pixels, and keeps its aspect ratio', () => {
    const crop = { left: 0, top: 0, width: 17_000, height: 2_809 };
    expect(resolveOutput(crop, {})).toEqual({ crop, output: { width: 4_096, height: 677 } });
    const long = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(long, long, (width, height) => {
        const large = { left: 0, top: 0, width, height };
        const { crop: shown, output } = resolveOutput(large, {});
        expect(shown).toEqual(large);
        const scale = Math.min(1, 4_096 / Math.max(width, height));
        expect(Math.abs(output.width - Math.max(1, width * scale))).toBeLessThanOrEqual(0.5);
        expect(Math.abs(output.height - Math.max(1, height * scale))).toBeLessThanOrEqual(0.5);
      }),
    );
  });
});

function expectInside(inner: Rectangle, outer: Rectangle): void {
  for (const value of Object.values(inner)) expect(Number.isInteger(value)).toBe(true);
  expect(inner.width).toBeGreaterThanOrEqual(1);
  expect(inner.height).toBeGreaterThanOrEqual(1);
  expect(inner.left).toBeGreaterThanOrEqual(outer.left);
  expect(inner.top).toBeGreaterThanOrEqual(outer.top);
  expect(inner.left + inner.width).toBeLessThanOrEqual(outer.left + outer.width);
  expect(inner.top + inner.height).toBeLessThanOrEqual(outer.top + outer.height);
}
