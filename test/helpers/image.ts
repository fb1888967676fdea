import sharp from 'sharp';

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
