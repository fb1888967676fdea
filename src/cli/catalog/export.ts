import { constants, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogReader } from '../../sources/catalog/reader.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { type CatalogCommand, IMAGES_OPTION, imagesFolder } from './command.ts';
import { withReader, writeLines } from './output.ts';

export const exportCommand: CatalogCommand = {
  usage: 'catalog export [--images DIR] > FILE.ndjson',
  summary: 'Writes all channels as NDJSON, and their pictures into DIR.',
  help: `Most subscribed first. With --images the pictures go into DIR, which is made where it is missing:
"catalog import FILE.ndjson --images DIR" then makes the same catalog anywhere. Without it the file
names the pictures that stay in this catalog.`,
  options: IMAGES_OPTION,
  async run({ options }, { dataDir, stdout, stderr }) {
    const images = imagesFolder(options);
    const imagesDir = catalogPaths(dataDir).images;
    let isComplete = true;
    function onMissing(record: CatalogRecord, fileName: string): void {
      isComplete = false;
      stderr.write(`${record.channelId}: the picture ${join(imagesDir, fileName)} is missing\n`);
    }
    await withReader(dataDir, (reader) =>
      writeLines(
        stdout,
        exportedLines(reader, (record) => copyPictures(record, imagesDir, images, onMissing)),
      ),
    );
    return isComplete;
  },
};

function* exportedLines(reader: CatalogReader, onRecord: (record: CatalogRecord) => void): Generator<string> {
  for (const record of reader.records()) {
    onRecord(record);
    yield JSON.stringify(record);
  }
}

function copyPictures(
  record: CatalogRecord,
  from: string,
  to: string | undefined,
  onMissing: (record: CatalogRecord, fileName: string) => void,
): void {
  if (to === undefined) return;
  mkdirSync(to, { recursive: true });
  for (const fileName of [record.bannerFile, record.avatarFile]) {
    if (fileName !== null && !copyPicture(join(from, fileName), join(to, fileName))) onMissing(record, fileName);
  }
}

function copyPicture(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
