import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Format } from '../src/domain/formats.ts';
import type { Rectangle } from '../src/domain/variants.ts';
import { startProcess } from '../test/helpers/process.ts';
import type { BenchImage } from './images.ts';
import { isInstalled, stopProcess } from './processes.ts';
import type { Print } from './report.ts';
import { fetchGood } from './servers.ts';

/** A program that crops and encodes images with its default settings, without a cache. */
export interface Peer {
  readonly name: string;
  make(image: BenchImage, crop: Rectangle, format: Format): Promise<Buffer>;
  stop?(): Promise<void>;
}

const run = promisify(execFile);
const IPX_VERSION = '3.1.1';
const IPX_SERVER = fileURLToPath(new URL('ipx-server.ts', import.meta.url));
const INSTALL_MS = 60_000;

/** unjs/ipx, installed into the directory, as a separate process. `undefined`, with a message, if npm cannot install it. */
export async function startIpx(
  directory: string,
  images: readonly BenchImage[],
  print: Print,
): Promise<Peer | undefined> {
  const folder = await writeOriginals(join(directory, 'ipx'), images);
  try {
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `ipx@${IPX_VERSION}`];
    await run('npm', args, { cwd: folder, timeout: INSTALL_MS });
  } catch (error) {
    print(`skipped: IPX ${IPX_VERSION} cannot be installed: ${String(error).split('\n')[0]}`);
    return undefined;
  }
  const server = startProcess(process.execPath, [IPX_SERVER, join(folder, 'node_modules/ipx/dist/index.mjs'), folder]);
  const [, port] = await server.printed(/listening on (\d+)/);
  return {
    name: `IPX ${IPX_VERSION}`,
    make({ name }, { left, top, width, height }, format) {
      const cut = `f_${format},extract_${left}_${top}_${width}_${height}`;
      return fetchGood(`http://127.0.0.1:${port}/${cut}/${name}.jpg`);
    },
    stop: () => stopProcess(server),
  };
}

/** ImageMagick's command line: a process for each image. `undefined`, with a message, if it is not installed. */
export async function findImageMagick(
  directory: string,
  images: readonly BenchImage[],
  print: Print,
): Promise<Peer | undefined> {
  if (!isInstalled('convert')) {
    print('skipped: ImageMagick is not installed');
    return undefined;
  }
  const folder = await writeOriginals(join(directory, 'imagemagick'), images);
  return {
    name: 'ImageMagick',
    async make({ name }, { left, top, width, height }, format) {
      const output = join(folder, `out.${format}`);
      const crop = `${width}x${height}+${left}+${top}`;
      await run('convert', [join(folder, `${name}.jpg`), '-crop', crop, '+repage', output]);
      return readFile(output);
    },
  };
}

async function writeOriginals(folder: string, images: readonly BenchImage[]): Promise<string> {
  await mkdir(folder);
  for (const { name, bytes } of images) await writeFile(join(folder, `${name}.jpg`), bytes);
  return folder;
}
