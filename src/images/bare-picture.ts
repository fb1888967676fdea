import type { SourceFormat } from '../domain/formats.ts';
import { isBareJpeg } from './bare-jpeg.ts';
import { isBarePng } from './bare-png.ts';

/** The check walks through all of the data: a larger file would take longer than its re-encoded form is worth. */
const MAX_CHECKED_BYTES = 4 * 1024 * 1024;

/**
 * True when a file holds nothing but what a decoder needs to show its picture. Decoders skip everything else, so a file
 * that is sent as it is could carry a page, a script or the place where it was taken.
 *
 * Only two kinds of file can be checked to the last byte at a reasonable price: baseline JPEG (`bare-jpeg.ts`) and PNG in
 * true colour (`bare-png.ts`). All others are re-encoded. WebP and AVIF have room inside their compressed data that only
 * a complete decoder could tell from picture data, and AVIF boxes carry names and unreferenced items. GIF is never sent.
 */
export async function isBarePicture(format: SourceFormat, bytes: Buffer): Promise<boolean> {
  if (bytes.length > MAX_CHECKED_BYTES) return false;
  if (format === 'jpeg') return isBareJpeg(bytes);
  return format === 'png' && isBarePng(bytes);
}
