import sharp, { type Sharp } from 'sharp';
import type { Rectangle, Size } from '../../src/domain/variants.ts';

/**
 * A black and white chequerboard whose lines are spaced irregularly, so that a crop that is shifted, scaled, mirrored
 * or turned shows: no other place of the card looks the same.
 */
export function drawTestCard(size: Size): Sharp {
  const columns = cellOfEach(size.width);
  const [even, odd] = [0, 1].map((row) => Buffer.from(columns.map((column) => ((row + column) % 2 === 0 ? 255 : 0))));
  const pixels = Buffer.concat(cellOfEach(size.height).map((row) => (row % 2 === 0 ? even : odd) as Buffer));
  return sharp(pixels, { raw: { ...size, channels: 1 } }).toColourspace('srgb');
}

/** The number of lines up to each pixel. Their distances are 24 to 67 pixels, never twice the same in a row. */
function cellOfEach(length: number): number[] {
  let [lines, next] = [0, 24];
  return Array.from({ length }, (_, at) => {
    if (at === next) {
      lines += 1;
      next += 24 + ((lines * lines * 7 + lines * 5) % 44);
    }
    return lines;
  });
}

/** The mean difference of brightness, of 255, between an image and this part of the card at the image's size. */
export async function differenceFromCard(image: Buffer, card: Sharp, shown: Rectangle): Promise<number> {
  const { data, info } = await sharp(image).removeAlpha().greyscale().raw().toBuffer({ resolveWithObject: true });
  const part = card.clone().extract(shown).resize(info.width, info.height, { fit: 'fill' });
  const expected = await part.greyscale().raw().toBuffer();
  let sum = 0;
  for (let at = 0; at < expected.length; at += 1) sum += Math.abs((data[at] ?? 0) - (expected[at] ?? 0));
  return sum / expected.length;
}
