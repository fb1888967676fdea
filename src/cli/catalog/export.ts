import { constants, copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '../../domain/printable.ts';
import { hasErrorCode, makeDirectory } from '../../lib/file-system.ts';
import { isPictureName } from '../../sources/catalog/pictures.ts';
import type { CatalogReader } from '../../sources/catalog/reader.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { type CatalogCommand, IMAGES_OPTION, imagesFolder, withReader, writeLines } from './command.ts';

export const exportCommand: CatalogCommand = {
  usage: 'catalog export [--images DIR] > FILE.ndjson',
  summary: 'Writes all channels as NDJSON, and their pictures into DIR.',
  help: `Channels with the most subscribers come first. With --images the pictures are copied into DIR, which is
created if it is missing: "catalog import FILE.ndjson --images DIR" then builds the same catalog
elsewhere. Without --images the file only names the pictures. Pictures in DIR that the catalog does
not have are listed and kept.`,
  options: IMAGES_OPTION,
  async run({ options }, { dataDir, stdout, stderr }) {
    const folder = imagesFolder(options);
    let isComplete = true;
    const pictures =
      folder === undefined
        ? undefined
        : createPictureExport(catalogPaths(dataDir).images, folder, (failure) => {
            isComplete = false;
            stderr.write(`${failure}\n`);
          });
    await withReader(dataDir, (reader) =>
      writeLines(
        stdout,
        exportedLines(reader, (record) => pictures?.copy(record)),
      ),
    );
    for (const line of describeLeftovers(folder ?? '', pictures?.leftovers() ?? [])) stderr.write(`${line}\n`);
    return isComplete;
  },
};

function* exportedLines(reader: CatalogReader, onRecord: (record: CatalogRecord) => void): Generator<string> {
  for (const record of reader.records()) {
    onRecord(record);
    yield JSON.stringify(record);
  }
}

interface PictureExport {
  copy(record: CatalogRecord): void;
  /** Pictures in the folder that no exported record names. */
  leftovers(): string[];
}

function createPictureExport(from: string, to: string, onFailure: (failure: string) => void): PictureExport {
  makeDirectory(to);
  const leftovers = new Set(readdirSync(to).filter(isPictureName));

  function copy(channelId: string, fileName: string): void {
    leftovers.delete(fileName);
    // Anything may have written the database, so names must not lead out of the folder.
    if (!isPictureName(fileName)) {
      onFailure(`${channelId}: "${printable(fileName)}" is not a valid picture name`);
    } else if (!copyPicture(join(from, fileName), join(to, fileName))) {
      onFailure(`${channelId}: the picture ${join(from, fileName)} is missing`);
    }
  }

  return {
    copy({ channelId, bannerFile, avatarFile }) {
      for (const fileName of [bannerFile, avatarFile]) if (fileName !== null) copy(channelId, fileName);
    },
    leftovers: () => [...leftovers],
  };
}

function copyPicture(from: string, to: string): boolean {
  try {
    if (!lstatSync(from).isFile()) return false;
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

const MAX_NAMED = 20;

function describeLeftovers(folder: string, fileNames: readonly string[]): string[] {
  const named = fileNames.slice(0, MAX_NAMED).map((name) => `${join(folder, name)} is not in the catalog`);
  const more = fileNames.length - named.length;
  return more > 0 ? [...named, `… and ${more} more pictures in ${folder}`] : named;
}
