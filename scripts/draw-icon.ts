import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

/* Renders the service's icon. Run by hand after a change to it: the image is committed. */

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

await sharp(path('web/playground/pennant.svg'), { density: 96 })
  .resize(48, 48)
  .png({ compressionLevel: 9, palette: true })
  .toFile(path('src/http/favicon.png'));
