import sharp, { type OutputInfo } from 'sharp';
import type { Rectangle } from '../src/domain/variants.ts';
import { type Plane, structuralSimilarity } from './ssim.ts';

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
