import sharp from 'sharp';
import { expect } from 'vitest';

/** Decodes an image in this process instead of the tested one. */
export async function decodeImage(bytes: Buffer) {
  const { format } = await sharp(bytes).metadata();
  const { info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  return {
    format: format === 'heif' ? 'avif' : String(format),
    width: info.width,
    height: info.height,
  };
}

/**
 * A new small image of a service in another process, whose encoder has its usual deadline. A busy machine may miss that. Then the
 * same size is refused for a minute, and another one is requested.
 */
export async function fetchNewImage(url: string): Promise<Buffer> {
  let width = 64;
  let bytes = Buffer.alloc(0);
  async function request(): Promise<number> {
    const response = await fetch(`${url}?width=${width}`);
    width += 1;
    bytes = Buffer.from(await response.arrayBuffer());
    return response.status;
  }
  await expect.poll(request).toBe(200);
  return bytes;
}
