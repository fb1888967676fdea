import { describe, expect, it } from 'vitest';
import { type Plane, structuralSimilarity } from './ssim.ts';

const SIDE = 32;

function plane(valueAt: (x: number, y: number) => number): Plane {
  const values = Float32Array.from({ length: SIDE * SIDE }, (_, at) => valueAt(at % SIDE, Math.floor(at / SIDE)));
  return { width: SIDE, height: SIDE, values };
}

const chequered = (low: number, high: number) => plane((x, y) => ((x + y) % 2 === 0 ? low : high));

describe('the structural similarity', () => {
  it('of an image with itself is 1', () => {
    const image = plane((x, y) => (x * 37 + y * 11) % 256);
    expect(structuralSimilarity(image, image)).toBeCloseTo(1, 5);
  });

  it('of two uniform greys is the luminance term of the definition', () => {
    const c1 = (0.01 * 255) ** 2;
    const expected = (2 * 100 * 150 + c1) / (100 ** 2 + 150 ** 2 + c1);
    expect(
      structuralSimilarity(
        plane(() => 100),
        plane(() => 150),
      ),
    ).toBeCloseTo(expected, 4);
  });

  it('of an image with its negative is close to -1', () => {
    expect(structuralSimilarity(chequered(28, 228), chequered(228, 28))).toBeLessThan(-0.98);
  });

  it('falls with noise', () => {
    const image = plane((x) => x * 8);
    const noisy = (amount: number) => plane((x, y) => x * 8 + ((x * 7 + y * 13) % 3) * amount);
    expect(structuralSimilarity(image, noisy(20))).toBeLessThan(structuralSimilarity(image, noisy(5)));
  });
});
