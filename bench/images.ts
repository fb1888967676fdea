import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { Format } from '../src/domain/formats.ts';
import { REFERENCE_BANNER, type Rectangle } from '../src/domain/variants.ts';
import { encoderOptions } from '../src/images/encoder/job.ts';

export interface BenchImage {
  readonly name: string;
  /** A 2560×1440 JPEG, like a channel's banner from upstream. */
  readonly bytes: Buffer;
}

const SAMPLES_DIRECTORY = fileURLToPath(new URL('../samples/images', import.meta.url));
/** The Debian package gnome-backgrounds has them. */
const BACKGROUNDS_DIRECTORY = '/usr/share/backgrounds/gnome';
/** The images with photographic detail. The others are flat drawings. */
const BACKGROUNDS = ['adwaita-l', 'grid-l', 'licorice-l', 'pixels-l', 'truchet-l', 'wood-l'];

/** The banners of the sample catalog. */
export async function readSampleBanners(): Promise<BenchImage[]> {
  const names = (await readdir(SAMPLES_DIRECTORY)).filter((name) => name.endsWith('-banner.jpg')).sort();
  return Promise.all(names.map((name) => readBanner(path.join(SAMPLES_DIRECTORY, name))));
}

/** GNOME's backgrounds. None, if they are not installed. */
export async function readBackgrounds(): Promise<BenchImage[]> {
  const files = BACKGROUNDS.map((name) => path.join(BACKGROUNDS_DIRECTORY, `${name}.webp`));
  return Promise.all(files.filter((file) => existsSync(file)).map(readBanner));
}

async function readBanner(file: string): Promise<BenchImage> {
  const image = sharp(await readFile(file)).resize({ ...REFERENCE_BANNER, fit: 'cover' });
  return { name: path.parse(file).name, bytes: await image.jpeg({ quality: 95 }).toBuffer() };
}

/** Decodes, crops and encodes as the service does, by the library only. */
export function encodeBare(original: Buffer, crop: Rectangle, format: Format): Promise<Buffer> {
  const cropped = sharp(original).autoOrient().extract(crop);
  const image = format === 'jpeg' ? cropped.flatten({ background: 'white' }) : cropped;
  return image.toFormat(format, encoderOptions(format, crop, undefined)).toBuffer();
}
