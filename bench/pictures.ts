import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { REFERENCE_BANNER } from '../src/domain/variants.ts';

export interface BenchPicture {
  readonly name: string;
  /** A 2560×1440 JPEG, like a channel's banner from upstream. */
  readonly bytes: Buffer;
}

const SAMPLES_DIRECTORY = new URL('../samples/images/', import.meta.url);
const BACKGROUNDS_PACKAGE = 'gnome-backgrounds';
const BACKGROUNDS_DIRECTORY = '/usr/share/backgrounds/gnome';
/** The pictures with photographic detail. The others are flat drawings. */
const BACKGROUNDS = ['adwaita-l', 'grid-l', 'licorice-l', 'pixels-l', 'truchet-l', 'wood-l'];

/** The banners of the sample catalog. */
export async function readSampleBanners(): Promise<BenchPicture[]> {
  const names = (await readdir(SAMPLES_DIRECTORY)).filter((name) => name.endsWith('-banner.jpg')).sort();
  return Promise.all(
    names.map(async (name) => ({
      name: path.basename(name, '.jpg'),
      bytes: await asBanner(await readFile(new URL(name, SAMPLES_DIRECTORY))),
    })),
  );
}

/** Debian's GNOME backgrounds, which are installed if they are missing. None, with a message, if that fails. */
export async function readBackgrounds(): Promise<BenchPicture[]> {
  if (!existsSync(BACKGROUNDS_DIRECTORY)) await installBackgrounds();
  const found = BACKGROUNDS.filter((name) => existsSync(backgroundPath(name)));
  return Promise.all(
    found.map(async (name) => ({ name, bytes: await asBanner(await readFile(backgroundPath(name))) })),
  );
}

async function installBackgrounds(): Promise<void> {
  try {
    await promisify(execFile)('apt-get', ['install', '--yes', '--no-install-recommends', BACKGROUNDS_PACKAGE]);
  } catch (error) {
    console.log(`Skipped: ${BACKGROUNDS_PACKAGE} is not installed and cannot be (${String(error).split('\n')[0]}).`);
  }
}

function backgroundPath(name: string): string {
  return path.join(BACKGROUNDS_DIRECTORY, `${name}.webp`);
}

function asBanner(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes)
    .resize({ ...REFERENCE_BANNER, fit: 'cover' })
    .jpeg({ quality: 95 })
    .toBuffer();
}
