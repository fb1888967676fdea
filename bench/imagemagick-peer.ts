import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from './peers.ts';
import type { BenchPicture } from './pictures.ts';
import { isInstalled } from './processes.ts';

/** ImageMagick's command line with its default quality: a process for each picture. `undefined` if it is not installed. */
export async function findImageMagick(directory: string, pictures: readonly BenchPicture[]): Promise<Peer | undefined> {
  if (!(await isInstalled('convert'))) return undefined;
  const folder = join(directory, 'imagemagick');
  await mkdir(folder);
  for (const { name, bytes } of pictures) await writeFile(join(folder, `${name}.jpg`), bytes);
  const run = promisify(execFile);
  return {
    name: 'ImageMagick',
    formats: ['avif', 'webp', 'jpeg'],
    async make({ name }, { left, top, width, height }, format) {
      const output = join(folder, `out.${format}`);
      const crop = `${width}x${height}+${left}+${top}`;
      await run('convert', [join(folder, `${name}.jpg`), '-crop', crop, '+repage', output]);
      return readFile(output);
    },
    stop: async () => undefined,
  };
}
