import { constants, copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '../../config/settings.ts';
import { printable } from '../../domain/printable.ts';
import { hasErrorCode, makeDirectory } from '../../lib/file-system.ts';
import { isPictureName } from '../../sources/catalog/pictures.ts';
import { type CatalogReader, withReader } from '../../sources/catalog/reader.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { defineCommand, writeLines } from '../command.ts';

export const exportCommand = defineCommand({
  usage: 'catalog export [--images DIR] > FILE.ndjson',
  summary: 'Writes all channels as NDJSON, and their pictures into DIR.',
  help: `Channels with the most subscribers come first. With --images the pictures are copied into DIR, which is
created if it is missing: "catalog import FILE.ndjson --images DIR" then builds the same catalog
elsewhere. Without --images the file only names the pictures. Pictures in DIR that the catalog does
not have are listed and kept.`,
  options: { images: { type: 'string' } },
  async run({ options: { images: folder } }, { env, stdout, stderr }) {
    const paths = catalogPaths(parseConfig(env).dataDir);
    let isComplete = true;
    const pictures = folder === undefined ? undefined : openPictureFolder(paths.images, folder);

    function* exportedLines(reader: CatalogReader): Generator<string> {
      for (const record of reader.records()) {
        for (const failure of pictures?.copyOf(record) ?? []) {
          isComplete = false;
          stderr.write(`${failure}\n`);
        }
        yield JSON.stringify(record);
      }
    }

    await withReader(paths.database, (reader) => writeLines(stdout, exportedLines(reader)));
    for (const line of pictures?.describeLeftovers() ?? []) stderr.write(`${line}\n`);
    return isComplete;
  },
});

const MAX_NAMED = 20;

/** Copies pictures into a folder, and knows the pictures in it that no exported record names. */
function openPictureFolder(from: string, to: string) {
  makeDirectory(to);
  const leftovers = new Set(readdirSync(to).filter(isPictureName));

  /** Returns why the picture was not copied. */
  function copy(fileName: string): string | undefined {
    leftovers.delete(fileName);
    // Anything may have written the database, so names must not lead out of the folder.
    if (!isPictureName(fileName)) return `"${printable(fileName)}" is not a valid picture name`;
    const picture = join(from, fileName);
    try {
      if (lstatSync(picture).isFile()) {
        copyFileSync(picture, join(to, fileName), constants.COPYFILE_FICLONE);
        return undefined;
      }
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error;
    }
    return `the picture ${picture} is missing`;
  }

  return {
    copyOf({ channelId, bannerFile, avatarFile }: CatalogRecord): string[] {
      const failures = [bannerFile, avatarFile].map((fileName) => (fileName === null ? undefined : copy(fileName)));
      return failures.filter((failure) => failure !== undefined).map((failure) => `${channelId}: ${failure}`);
    },
    describeLeftovers(): string[] {
      const named = [...leftovers].slice(0, MAX_NAMED).map((name) => `${join(to, name)} is not in the catalog`);
      const more = leftovers.size - named.length;
      return more > 0 ? [...named, `… and ${more} more pictures in ${to}`] : named;
    },
  };
}
