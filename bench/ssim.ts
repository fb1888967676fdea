import sharp, { type OutputInfo } from 'sharp';
import type { Rectangle } from '../src/domain/variants.ts';

/** Uncompressed pixels and their properties. */
export interface Pixels {
  readonly data: Buffer;
  readonly info: OutputInfo;
}

export function cutPixels(original: Buffer, crop: Rectangle): Promise<Pixels> {
  return sharp(original).extract(crop).raw().toBuffer({ resolveWithObject: true });
}

/** SSIM of luma of an encoded image, compared with its uncompressed pixels. */
export async function likenessOf(encoded: Buffer, reference: Pixels): Promise<number> {
  const decoded = await sharp(encoded).raw().toBuffer({ resolveWithObject: true });
  return structuralSimilarity(lumaOf(reference), lumaOf(decoded));
}

/** Luma by ITU-R BT.601, as in JPEG. */
function lumaOf({ data, info }: Pixels): Plane {
  const { width, height, channels } = info;
  const values = Float32Array.from({ length: width * height }, (_, pixel) => {
    const at = pixel * channels;
    return 0.299 * data.readUInt8(at) + 0.587 * data.readUInt8(at + 1) + 0.114 * data.readUInt8(at + 2);
  });
  return { width, height, values };
}

/**
 * Structural similarity of two greyscale images; 1 if they are equal. The mean over all positions of an 11×11 Gaussian
 * window of σ = 1.5, as in Wang, Bovik, Sheikh, Simoncelli: "Image quality assessment" (IEEE TIP 13-4, 2004).
 */
function structuralSimilarity(a: Plane, b: Plane): number {
  if (a.width !== b.width || a.height !== b.height) throw new RangeError('Images of different sizes');
  const meanA = blur(a);
  const meanB = blur(b);
  const squareA = blur(product(a, a));
  const squareB = blur(product(b, b));
  const productAB = blur(product(a, b));
  let sum = 0;
  for (let at = 0; at < meanA.values.length; at += 1) {
    const muA = meanA.values[at] ?? 0;
    const muB = meanB.values[at] ?? 0;
    const varianceA = (squareA.values[at] ?? 0) - muA * muA;
    const varianceB = (squareB.values[at] ?? 0) - muB * muB;
    const covariance = (productAB.values[at] ?? 0) - muA * muB;
    const luminance = (2 * muA * muB + C1) / (muA * muA + muB * muB + C1);
    sum += (luminance * (2 * covariance + C2)) / (varianceA + varianceB + C2);
  }
  return sum / meanA.values.length;
}

/** One value per pixel, row by row, 0 to 255. */
interface Plane {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;
/** Pixels in each direction. */
const SSIM_WINDOW = 11;
const WINDOW = gaussianWindow(SSIM_WINDOW, 1.5);

function gaussianWindow(length: number, sigma: number): number[] {
  const weights = Array.from({ length }, (_, at) => Math.exp(-((at - (length - 1) / 2) ** 2) / (2 * sigma ** 2)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function product(a: Plane, b: Plane): Plane {
  return { ...a, values: a.values.map((value, at) => value * (b.values[at] ?? 0)) };
}

/** The window stays inside the image, so the result is ten pixels smaller in each direction. */
function blur(plane: Plane): Plane {
  return blurRows(blurRows(plane));
}

/** Blurs along the rows, and exchanges rows and columns. */
function blurRows({ width, height, values }: Plane): Plane {
  const blurredWidth = width - WINDOW.length + 1;
  if (blurredWidth < 1) throw new RangeError('An image smaller than the window');
  const result = new Float32Array(blurredWidth * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < blurredWidth; x += 1) {
      let sum = 0;
      let at = y * width + x;
      for (const weight of WINDOW) {
        sum += weight * (values[at] ?? 0);
        at += 1;
      }
      result[x * height + y] = sum;
    }
  }
  return { width: height, height: blurredWidth, values: result };
}
