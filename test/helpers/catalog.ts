import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type ImportOptions, importChannels } from '../../src/sources/catalog/import.ts';
import { updateCatalog } from '../../src/sources/catalog/new-catalog.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { numberedChannelId } from './fake-source.ts';

/** A line of a catalog with the required fields and `fields`. */
export function catalogLine(number: number, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ channelId: numberedChannelId(number), title: `Channel ${number}`, ...fields });
}

/** The beginning of a PNG, which is all that an import reads, and bytes that are unique to this text. */
export function pngOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from(`image ${text}`)]);
}

/** Writes images by name into a new folder below `directory`. */
export async function writeImages(directory: string, images: Record<string, Buffer>): Promise<string> {
  const folder = join(directory, 'images');
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(images)) await writeFile(join(folder, name), bytes);
  return folder;
}

/** Imports lines as the command line does. @returns also its messages about lines */
export async function importLines(
  dataDir: string,
  lines: readonly (string | Buffer)[],
  imagesFrom = dataDir,
  options: Pick<ImportOptions, 'onProgress' | 'signal'> = {},
) {
  const refusals: string[] = [];
  const input = Readable.from(
    lines.flatMap((line, at) => (at === 0 ? [line] : ['\n', line])).map((part) => Buffer.from(part)),
  );
  const warnings: string[] = [];
  const onRefused = (lineNumber: number, reason: string) => refusals.push(`line ${lineNumber}: ${reason}`);
  const onWarning = (lineNumber: number, warning: string) => warnings.push(`line ${lineNumber}: ${warning}`);
  const summary = await updateCatalog(catalogPaths(dataDir), (writer) =>
    importChannels(writer, input, { ...options, imagesFrom, onRefused, onWarning }),
  );
  return { ...summary, refusals, warnings };
}

/** What a command prints that has changed a catalog which no service reads. */
export function unread(dataDir: string): string {
  return `The catalog is ${join(dataDir, 'catalog.db')}. No service runs on it.\n`;
}
