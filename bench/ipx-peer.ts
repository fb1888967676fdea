import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fetchGood } from './answer.ts';
import type { Peer } from './peers.ts';
import type { BenchPicture } from './pictures.ts';
import { stopProcess, waitForLine } from './processes.ts';

const VERSION = '3.1.1';
const SERVER = fileURLToPath(new URL('ipx-server.ts', import.meta.url));
const INSTALL_MS = 60_000;

/** unjs/ipx with its default settings, installed into the directory, as a separate process. `undefined`, with a message, if it is not available. */
export async function startIpx(
  directory: string,
  pictures: readonly BenchPicture[],
  print: (line: string) => void,
): Promise<Peer | undefined> {
  const installed = join(directory, 'ipx');
  await mkdir(installed, { recursive: true });
  try {
    await install(installed);
  } catch (error) {
    print(`IPX ${VERSION} cannot be installed: ${String(error).split('\n')[0]}`);
    return undefined;
  }
  const served = join(directory, 'ipx-pictures');
  await mkdir(served);
  for (const { name, bytes } of pictures) await writeFile(join(served, `${name}.jpg`), bytes);
  const module = join(installed, 'node_modules/ipx/dist/index.mjs');
  const child = spawn(process.execPath, [SERVER, module, served], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await waitForLine(child, /listening on (\d+)/);
  return {
    name: `IPX ${VERSION}`,
    formats: ['avif', 'webp', 'jpeg', 'png'],
    make({ name }, { left, top, width, height }, format) {
      const cut = `f_${format},extract_${left}_${top}_${width}_${height}`;
      return fetchGood(`http://127.0.0.1:${port}/${cut}/${name}.jpg`);
    },
    stop: () => stopProcess(child),
  };
}

async function install(directory: string): Promise<void> {
  const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', `ipx@${VERSION}`];
  await promisify(execFile)('npm', args, { cwd: directory, timeout: INSTALL_MS });
}
