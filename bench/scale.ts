import type { PartOptions, Print, Row } from './report.ts';
import { benchCacheAtScale } from './scale-cache.ts';
import { benchImagesAtScale } from './scale-images.ts';

const SMALL_SIZE = 10_000;

/** The stored images and `cache.db` with many entries, compared with 10,000 of each. */
export async function bench(print: Print, { size }: PartOptions): Promise<Row[]> {
  if (!Number.isSafeInteger(size) || size < SMALL_SIZE) throw new Error(`--size is a number from ${SMALL_SIZE} on`);
  const sizes = { small: SMALL_SIZE, large: size };
  return [...(await benchImagesAtScale(print, sizes)), ...(await benchCacheAtScale(print, sizes))];
}
