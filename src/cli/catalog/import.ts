import { createReadStream, open, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { parseConfig } from '../../config/settings.ts';
import { printable } from '../../lib/printable.ts';
import { type ImportSummary, importChannels } from '../../sources/catalog/import.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { withDryRun } from '../../sources/catalog/writer.ts';
import { type CommandContext, defineCommand, StoppedError, UsageError } from '../command.ts';
import { changeCatalog, unreadCatalogNotice } from './change.ts';
import { createDecoder } from './decoder.ts';

export const importCommand = defineCommand({
  usage: 'catalog import FILE.ndjson|- [--images DIR] [--dry-run]',
  summary: 'Imports the channels of a file; replaces channels with the same ID.',
  help: `Each line of the file is one channel, as JSON in the form of the API, with these differences:
  channelId, title    required; every other field may be null or missing (unknown)
  username            the legacy user name
  bannerFile          names of images in DIR (JPEG, PNG, WebP, AVIF or GIF, up to 16 MiB each);
  avatarFile          without --images, names of images that the catalog already has
  bannerUrl, avatarUrl, bannerUrls    ignored

  -                   reads standard input instead of a file
  --images DIR        the folder of the images
  --dry-run           checks every line and image, and changes nothing

An invalid line is reported with its number, fields and reasons; all other lines are imported. Of two
channels with the same handle or user name, the first one keeps it, and a warning says so. SIGINT and
SIGTERM stop the import after the current record. Imported records stay; run the same command again to
import the rest. A running service uses the new records from its next request on.
Exit code: 0 all lines imported, 1 some lines rejected, 2 invalid arguments, 130 stopped by SIGINT, 143
stopped by SIGTERM.`,
  argumentName: 'FILE.ndjson',
  options: { images: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  async run({ argument, options }, { env, stdin, stdout, stderr, stopSignal }) {
    const { images, 'dry-run': isDryRun = false } = options;
    const fileBytes = argument === '-' ? undefined : sizeOfFile(argument);
    if (images !== undefined && statSync(images, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UsageError(`There is no folder ${images}.`);
    }
    const paths = catalogPaths(parseConfig(env).dataDir);
    const signal = stopSignal();
    const withCatalog = isDryRun ? withDryRun : changeCatalog;
    const progress = createProgressBar(stderr, fileBytes);
    // Without --images the names are those of images that the catalog already has.
    const decoder = images === undefined ? undefined : createDecoder(signal);
    const importing = withCatalog(paths, async (writer) => {
      const input = argument === '-' ? stdin() : await openInput(argument);
      return importChannels(writer, input, {
        imagesFrom: images ?? paths.images,
        isWhole: decoder?.isWhole,
        onRefused: (lineNumber, reason) => progress.printAbove(`line ${lineNumber}: ${reason}`),
        onWarning: (lineNumber, warning) => progress.printAbove(`line ${lineNumber}: warning: ${printable(warning)}`),
        onProgress: (bytesDone, { added, replaced }) => progress.show(bytesDone, `${added + replaced} channels`),
        signal,
      });
    });
    const summary = await importing.finally(() => {
      progress.clear();
      return decoder?.close();
    });
    if (images === undefined && summary.withoutImage > 0) {
      stderr.write(`Images were searched for in ${paths.images}. Name another folder with --images DIR.\n`);
    }
    if (signal.aborted) {
      const next = `The lines from ${summary.lastLine + 1} on were not imported.`;
      throw new StoppedError(signal.reason, `${resultOf(summary, isDryRun)} ${next}`);
    }
    stdout.write(`${resultOf(summary, isDryRun)}\n`);
    if (!isDryRun) stderr.write(unreadCatalogNotice(paths));
    return summary.refused === 0;
  },
});

/** `undefined` for a named pipe, whose size is unknown. */
function sizeOfFile(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UsageError(`There is no file ${path}.`);
  if (stats.isDirectory()) throw new UsageError(`${path} is a folder.`);
  return stats.isFile() ? stats.size : undefined;
}

/** Reading a named pipe as a file would block a thread until the writer continues, and delay a stop. */
async function openInput(path: string): Promise<Readable> {
  if (!statSync(path).isFIFO()) return createReadStream(path);
  return new Socket({ fd: await promisify(open)(path, 'r'), readable: true, writable: false });
}

function resultOf({ added, replaced, refused }: ImportSummary, isDryRun: boolean): string {
  return isDryRun
    ? `Channels that would be added: ${added}, replaced: ${replaced}. Lines refused: ${refused}. Nothing was changed.`
    : `Channels added: ${added}, replaced: ${replaced}. Lines refused: ${refused}.`;
}

const BAR_CHARACTERS = 30;
/** Returns to the start of the line and erases it: ECMA-48 EL. */
const CLEAR_LINE = '\r\u001b[2K';

/**
 * A progress bar on a terminal. If the stream is no terminal, only the lines are written.
 *
 * @param total `undefined`: unknown; only the label is shown
 */
export function createProgressBar(stream: CommandContext['stderr'], total: number | undefined) {
  let drawn = '';

  function draw(text: string): void {
    if (stream.isTTY !== true || (text === '' && drawn === '')) return;
    stream.write(CLEAR_LINE + text);
    drawn = text;
  }

  return {
    show(done: number, label: string) {
      if (total === undefined) return draw(label);
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(part * BAR_CHARACTERS);
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
      draw(`${bar} ${String(Math.floor(part * 100)).padStart(3)}%  ${label}`);
    },
    printAbove(line: string) {
      const bar = drawn;
      draw('');
      stream.write(`${line}\n`);
      draw(bar);
    },
    clear: () => draw(''),
  };
}
