import { createReadStream, open, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type ImportSummary, importChannels } from '../../sources/catalog/import.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { openCatalogWriter } from '../../sources/catalog/writer.ts';
import { StoppedError, UsageError } from '../command-line.ts';
import { type CatalogCommand, IMAGES_OPTION, imagesFolder } from './command.ts';

export const importCommand: CatalogCommand = {
  usage: 'catalog import FILE.ndjson [--images DIR]',
  summary: 'Adds the channels of a file, or replaces those with the same ID.',
  help: `One line of the file is one channel: the JSON that the API answers, with these differences:
  channelId, title    required; every other field may be null or left out (unknown)
  username            the legacy user name
  bannerFile          names of pictures in DIR (JPEG, PNG, WebP, AVIF or GIF, up to 16 MiB each);
  avatarFile          without --images the pictures that the catalog has already
  bannerUrl, avatarUrl, bannerUrls    are ignored

A line that cannot be used is reported with its number, field and reason, and changes nothing; all
others are imported. SIGINT and SIGTERM stop after the record at hand: what was imported stays, and the
same command imports the rest. A running server answers with what was imported from the next request on;
what it has kept of a channel that is the same as before stays.
Exit code: 0 all lines imported, 1 some refused, 2 unusable arguments, 130 stopped by SIGINT, 143 by
SIGTERM.`,
  argumentName: 'FILE.ndjson',
  options: IMAGES_OPTION,
  async run({ argument, options }, { dataDir, stdout, stderr, onStopSignal }) {
    const images = imagesFolder(options);
    const fileBytes = sizeOfFile(argument);
    if (images !== undefined) requireFolder(images);
    const paths = catalogPaths(dataDir);
    const stop = new AbortController();
    onStopSignal((signal) => stop.abort(signal));
    const writer = openCatalogWriter(paths);
    const progress = createProgressBar(stderr, fileBytes);
    const input = await openInput(argument);
    try {
      const summary = await importChannels(writer, input, {
        imagesFrom: images ?? paths.images,
        onRefused: (lineNumber, reason) => progress.printAbove(`line ${lineNumber}: ${reason}`),
        onProgress: (bytesDone, { added, replaced }) => progress.show(bytesDone, `${added + replaced} channels`),
        signal: stop.signal,
      });
      writer.removeLeftovers();
      progress.clear();
      if (stop.signal.aborted) {
        const next = `The lines from ${summary.lastLine + 1} on were not imported.`;
        throw new StoppedError(stop.signal.reason, `${describe(summary)} ${next}`);
      }
      stdout.write(`${describe(summary)}\n`);
      return summary.refused === 0;
    } finally {
      input.destroy();
      progress.clear();
      writer.close();
    }
  },
};

function sizeOfFile(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UsageError(`There is no file ${path}.`);
  if (stats.isDirectory()) throw new UsageError(`${path} is a folder.`);
  return stats.size;
}

/** A read of a named pipe as a file would block a thread until its writer goes on, and keep a stopped process alive. */
async function openInput(path: string): Promise<Readable> {
  if (!statSync(path).isFIFO()) return createReadStream(path);
  return new Socket({ fd: await promisify(open)(path, 'r'), readable: true, writable: false });
}

function requireFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`There is no folder ${path}.`);
  }
}

function describe({ added, replaced, refused }: ImportSummary): string {
  return `Channels added: ${added}, replaced: ${replaced}. Lines refused: ${refused}.`;
}

const BAR_CHARACTERS = 30;
/** Back to the line's start, and all of it erased: ECMA-48 EL. */
const CLEAR_LINE = '\r\u001b[2K';

export interface ProgressBar {
  show(done: number, label: string): void;
  /** Writes a line that stays. */
  printAbove(line: string): void;
  clear(): void;
}

/** A bar on a terminal; nothing but the lines where the stream is piped. */
export function createProgressBar(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean },
  total: number,
): ProgressBar {
  let drawn = '';

  function draw(text: string): void {
    if (stream.isTTY !== true || (text === '' && drawn === '')) return;
    stream.write(CLEAR_LINE + text);
    drawn = text;
  }

  return {
    show(done, label) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(part * BAR_CHARACTERS);
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
      draw(`${bar} ${String(Math.floor(part * 100)).padStart(3)}%  ${label}`);
    },
    printAbove(line) {
      const bar = drawn;
      draw('');
      stream.write(`${line}\n`);
      draw(bar);
    },
    clear: () => draw(''),
  };
}
