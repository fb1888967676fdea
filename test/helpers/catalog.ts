import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { numberedChannelId } from './fake-source.ts';

/** A line of a catalog with the required fields and `fields`. */
export function catalogLine(number: number, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ channelId: numberedChannelId(number), title: `Channel ${number}`, ...fields });
}

/** Writes the operator's own channels, and images by name, into the catalog's folder in a `DATA_DIR`. */
export async function writeCatalog(
  dataDir: string,
  lines: readonly string[],
  images: Record<string, Buffer> = {},
): Promise<void> {
  const folder = join(dataDir, 'catalog');
  await mkdir(join(folder, 'images'), { recursive: true });
  for (const [name, bytes] of Object.entries(images)) await replaceFile(join(folder, 'images', name), bytes);
  await replaceFile(join(folder, 'channels.ndjson'), lines.map((line) => `${line}\n`).join(''));
}

async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  await writeFile(`${path}.tmp`, content);
  await rename(`${path}.tmp`, path);
}
