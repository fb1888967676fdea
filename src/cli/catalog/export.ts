import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '../../config/settings.ts';
import { makeDirectory } from '../../lib/file-system.ts';
import { printable } from '../../lib/printable.ts';
import { isImageName, placeImage } from '../../sources/catalog/image-files.ts';
import { type CatalogReader, withReader } from '../../sources/catalog/reader.ts';
import { type CatalogRecord, RecordRefusedError } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { defineCommand, writeLines } from '../command.ts';

export const exportCommand = defineCommand({
  usage: 'catalog export [--images DIR] > FILE.ndjson',
  summary: 'Writes all channels as NDJSON, and their images into DIR.',
  help: `Channels with the most subscribers come first. With --images the images are copied into DIR, which is
created if it is missing: "catalog import FILE.ndjson --images DIR" then builds the same catalog
elsewhere. Without --images the file only names the images. Images in DIR that the catalog does
not have are listed and kept.`,
  options: { images: { type: 'string' } },
  async run({ options: { images: folder } }, { env, stdout, stderr }) {
    const paths = catalogPaths(parseConfig(env).dataDir);
    let isComplete = true;
    const images = folder === undefined ? undefined : openImageFolder(paths.images, folder);

    function* exportedLines(reader: CatalogReader): Generator<string> {
      for (const record of reader.records()) {
        for (const failure of images?.copyOf(record) ?? []) {
          isComplete = false;
          stderr.write(`${failure}\n`);
        }
        yield JSON.stringify(record);
      }
    }

    await withReader(paths.database, (reader) => writeLines(stdout, exportedLines(reader)));
    for (const line of images?.describeLeftovers() ?? []) stderr.write(`${line}\n`);
    return isComplete;
  },
});

const MAX_NAMED = 20;

/** Copies images into a folder, and knows the images in it that no exported record names. */
function openImageFolder(from: string, to: string) {
  makeDirectory(to);
  const leftovers = new Set(readdirSync(to).filter(isImageName));

  /** Returns why the image was not copied. */
  function copy(field: string, fileName: string): string | undefined {
    leftovers.delete(fileName);
    // Anything may have written the database, so names must not lead out of the folder.
    if (!isImageName(fileName)) return `"${printable(fileName)}" is not a valid image name`;
    const image = join(from, fileName);
    if (lstatSync(image, { throwIfNoEntry: false })?.isFile() !== true) return `the image ${image} is missing`;
    try {
      // The folder may have a good image of this name, which an earlier export refers to.
      if (placeImage(field, fileName, from, null) !== fileName) return `the image ${image} is damaged`;
      placeImage(field, fileName, from, to);
      return undefined;
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      return error.message;
    }
  }

  return {
    copyOf({ channelId, bannerFile, avatarFile }: CatalogRecord): string[] {
      const failures = Object.entries({ bannerFile, avatarFile }).map(([field, fileName]) =>
        fileName === null ? undefined : copy(field, fileName),
      );
      return failures.filter((failure) => failure !== undefined).map((failure) => `${channelId}: ${failure}`);
    },
    describeLeftovers(): string[] {
      const named = [...leftovers].slice(0, MAX_NAMED).map((name) => `${join(to, name)} is not in the catalog`);
      const more = leftovers.size - named.length;
      return more > 0 ? [...named, `… and ${more} more images in ${to}`] : named;
    },
  };
}
