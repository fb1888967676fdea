import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

/* Draws the service's icon, once; the picture is committed. */

const PENNANT = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">
  <rect x="7" y="4" width="4" height="40" rx="2" fill="#3b3f58"/>
  <path d="M11 7 L43 17.5 L11 28 Z" fill="#e8533f"/>
  <path d="M11 7 L27 12.2 L27 22.8 L11 28 Z" fill="#f4795f"/>
</svg>`;

await sharp(Buffer.from(PENNANT), { density: 96 })
  .resize(48, 48)
  .png({ compressionLevel: 9, palette: true })
  .toFile(fileURLToPath(new URL('../src/http/favicon.png', import.meta.url)));
