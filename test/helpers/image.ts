import sharp from 'sharp';

/** Decodes an image in this process instead of the tested one, to measure its pixels. */
export async function decodeImage(bytes: Buffer) {
  const { format } = await sharp(bytes).metadata();
  const pixels = sharp(bytes).removeAlpha().toColourspace('srgb').raw();
  const { data, info } = await pixels.toBuffer({ resolveWithObject: true });
  return {
    format: format === 'heif' ? 'avif' : String(format),
    width: info.width,
    height: info.height,
    /** Red, green, blue at a point given as fractions of width and height. */
    colourAt(x: number, y: number): [red: number, green: number, blue: number] {
      const column = Math.min(info.width - 1, Math.floor(x * info.width));
      const row = Math.min(info.height - 1, Math.floor(y * info.height));
      const at = (row * info.width + column) * info.channels;
      return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
    },
  };
}
