/**
 * Renders scripts/drawings into the images of the sample catalog (samples/images), and small copies of them for the
 * playground's first page (web/playground/gallery): `node scripts/draw-samples.ts [NAME…]`.
 *
 * Run by hand after a change to a drawing: the images are committed. The letters need the fonts Inter, EB Garamond and
 * League Spartan (Debian: fonts-inter fonts-ebgaramond fonts-league-spartan).
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';

interface Sample {
  /** It is absent for a channel without a banner. */
  readonly banner?: readonly [width: number, height: number];
  readonly avatar: 'jpg' | 'png';
  /** The size of the small copy of the banner. Default: `CARD_SIZE`. */
  readonly copySize?: readonly [width: number, height: number];
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  // The copy of this banner is also the large image at the top of the page.
  pennant: { banner: [2560, 1440], avatar: 'png', copySize: [960, 540] },
  lantern: { avatar: 'jpg' },
  fernwick: { banner: [2120, 1192], avatar: 'png' },
  hoehenkamm: { banner: [2560, 1440], avatar: 'jpg' },
  'ninth-tide': { banner: [2048, 1152], avatar: 'png' },
  'copper-loop': { banner: [2560, 1440], avatar: 'jpg' },
  nightglass: { banner: [2560, 1440], avatar: 'jpg' },
  saltmarrow: { banner: [2048, 1152], avatar: 'jpg' },
};
const AVATAR_PX = 800;
const MAX_FILE_BYTES = 300_000;
/** The sizes of the small copies, for screens with two pixels per CSS pixel. */
const CARD_SIZE = [560, 315] as const;
const CARD_AVATAR_SIZE = [96, 96] as const;

const DRAWINGS = join(import.meta.dirname, 'drawings');
const IMAGES = join(import.meta.dirname, '../samples/images');
const GALLERY = join(import.meta.dirname, '../web/playground/gallery');
const CATALOG = await readFile(join(import.meta.dirname, '../samples/channels.ndjson'), 'utf8');

async function draw(name: string, { banner, avatar, copySize = CARD_SIZE }: Sample): Promise<void> {
  if (banner !== undefined) {
    const image = render(`${name}-banner.svg`, ...banner).jpeg({ quality: 80, mozjpeg: true });
    await save(image, `${name}-banner.jpg`, copySize);
  }
  const image = render(`${name}-avatar.svg`, AVATAR_PX, AVATAR_PX);
  const encoded = avatar === 'png' ? image.png({ compressionLevel: 9 }) : image.jpeg({ quality: 88, mozjpeg: true });
  await save(encoded, `${name}-avatar.${avatar}`, CARD_AVATAR_SIZE);
}

/** Drawn at twice the size and scaled down, which gives smoother edges than the renderer. */
function render(drawing: string, width: number, height: number): Sharp {
  const options = { density: 144, limitInputPixels: false };
  return sharp(join(DRAWINGS, drawing), options).resize(width, height, { fit: 'fill' });
}

async function save(image: Sharp, fileName: string, cardSize: readonly [number, number]) {
  const file = join(IMAGES, fileName);
  await image.toFile(file);
  const { size } = await stat(file);
  process.stdout.write(`${fileName} ${size} bytes\n`);
  if (size >= MAX_FILE_BYTES) throw new Error(`${fileName} is too large: ${size} of ${MAX_FILE_BYTES} bytes`);
  const card = sharp(file).resize(...cardSize);
  await card.webp({ quality: 72, effort: 6 }).toFile(join(GALLERY, cardName(fileName)));
}

/** The playground finds the copy by the ID of the channel that has the image. */
function cardName(fileName: string): string {
  const line = CATALOG.split('\n').find((text) => text.includes(`"${fileName}"`)) ?? '';
  const kind = /-(banner|avatar)\./.exec(fileName)?.[1];
  return `${JSON.parse(line).channelId}-${kind}.webp`;
}

const wanted = process.argv.slice(2);
for (const [name, sample] of Object.entries(SAMPLES)) {
  if (wanted.length === 0 || wanted.includes(name)) await draw(name, sample);
}
