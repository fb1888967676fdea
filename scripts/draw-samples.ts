/**
 * Draws the pictures of the sample catalog into samples/images, and small copies of them for the playground's first page
 * into site/gallery: `node scripts/draw-samples.ts [NAME…]`.
 *
 * Run by hand to change a picture. The committed files are shipped. The letters need the fonts Inter,
 * EB Garamond and League Spartan (Debian: fonts-inter fonts-ebgaramond fonts-league-spartan).
 */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { copperLoop } from './sample-art/copper-loop.ts';
import { fernwick } from './sample-art/fernwick.ts';
import { hoehenkamm } from './sample-art/hoehenkamm.ts';
import { lantern } from './sample-art/lantern.ts';
import { nightglass } from './sample-art/nightglass.ts';
import { ninthTide } from './sample-art/ninth-tide.ts';
import { pennant } from './sample-art/pennant.ts';
import { safeAreas } from './sample-art/safe-areas.ts';
import { saltmarrow } from './sample-art/saltmarrow.ts';
import type { Scene } from './sample-art/scene.ts';
import { CANVAS, svgDocument } from './sample-art/svg.ts';

interface Sample {
  readonly scene: Scene;
  readonly bannerSize?: readonly [width: number, height: number];
  readonly avatarFormat: 'jpg' | 'png';
}

const AVATAR_PX = 800;
const MAX_FILE_BYTES = 300_000;
const OUTPUT_DIR = join(import.meta.dirname, '../samples/images');
const GALLERY_DIR = join(import.meta.dirname, '../site/gallery');
/** Width of the small copies, for screens with two pixels per CSS pixel. */
const CARD = { width: 560, height: 315 };
const CARD_AVATAR_PX = 96;

const SAMPLES: Record<string, Sample> = {
  pennant: { scene: pennant, bannerSize: [2560, 1440], avatarFormat: 'png' },
  lantern: { scene: lantern, avatarFormat: 'jpg' },
  fernwick: { scene: fernwick, bannerSize: [2120, 1192], avatarFormat: 'png' },
  hoehenkamm: { scene: hoehenkamm, bannerSize: [2560, 1440], avatarFormat: 'jpg' },
  'ninth-tide': { scene: ninthTide, bannerSize: [2048, 1152], avatarFormat: 'png' },
  'copper-loop': { scene: copperLoop, bannerSize: [2560, 1440], avatarFormat: 'jpg' },
  nightglass: { scene: nightglass, bannerSize: [2560, 1440], avatarFormat: 'jpg' },
  saltmarrow: { scene: saltmarrow, bannerSize: [2048, 1152], avatarFormat: 'jpg' },
};

async function draw(name: string, { scene, bannerSize, avatarFormat }: Sample): Promise<void> {
  if (bannerSize !== undefined && scene.banner !== undefined) {
    const [width, height] = bannerSize;
    const { body, guides } = scene.banner;
    const drawn = guides === undefined ? body : body + safeAreas(guides);
    const picture = render(svgDocument(CANVAS.width, CANVAS.height, drawn), width, height);
    await save(picture.jpeg({ quality: 80, mozjpeg: true }), `${name}-banner.jpg`);
    await saveCard(`${name}-banner.jpg`, `${name}.webp`, CARD);
  }
  const avatar = render(svgDocument(AVATAR_PX, AVATAR_PX, scene.avatar), AVATAR_PX, AVATAR_PX);
  const encoded =
    avatarFormat === 'png' ? avatar.png({ compressionLevel: 9 }) : avatar.jpeg({ quality: 88, mozjpeg: true });
  await save(encoded, `${name}-avatar.${avatarFormat}`);
  const side = { width: CARD_AVATAR_PX, height: CARD_AVATAR_PX };
  await saveCard(`${name}-avatar.${avatarFormat}`, `${name}-avatar.webp`, side);
}

/** Writes a small copy of a picture that was just saved. */
async function saveCard(from: string, to: string, { width, height }: typeof CARD): Promise<void> {
  const small = sharp(join(OUTPUT_DIR, from)).resize(width, height);
  await small.webp({ quality: 72, effort: 6 }).toFile(join(GALLERY_DIR, to));
}

/** Drawn at twice the size and scaled down, which gives smoother edges than the renderer. */
function render(svg: string, width: number, height: number): Sharp {
  return sharp(Buffer.from(svg), { density: 144, limitInputPixels: false }).resize(width, height, { fit: 'fill' });
}

async function save(picture: Sharp, fileName: string): Promise<void> {
  const file = join(OUTPUT_DIR, fileName);
  await picture.toFile(file);
  const { size } = await stat(file);
  process.stdout.write(`${fileName} ${size} bytes\n`);
  if (size >= MAX_FILE_BYTES) throw new Error(`${fileName} is too large: ${size} of ${MAX_FILE_BYTES} bytes`);
}

await mkdir(OUTPUT_DIR, { recursive: true });
await mkdir(GALLERY_DIR, { recursive: true });
const wanted = process.argv.slice(2);
for (const [name, sample] of Object.entries(SAMPLES)) {
  if (wanted.length === 0 || wanted.includes(name)) await draw(name, sample);
}
