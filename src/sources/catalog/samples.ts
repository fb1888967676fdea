import { createReadStream, existsSync, linkSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode, makeDirectory } from '../../lib/file-system.ts';
import { importChannels } from './import.ts';
import { CatalogUnusableError, catalogPaths, createDraftFolder } from './schema.ts';
import { type CatalogWriter, openCatalogWriter } from './writer.ts';

export interface NewCatalog {
  /** The folder of `catalog.db` and `catalog-images/`. It is created if it is missing. */
  readonly dataDir: string;
  /** A folder with `channels.ndjson` and `images/`; `null`: the new catalog is empty. */
  readonly samplesDir: string | null;
}

/**
 * Creates a new catalog. It is built in a draft folder, with its pictures, and gets its name when it is complete. If
 * another process was faster, its catalog is kept and this one is removed.
 *
 * @throws CatalogUnusableError if a sample is rejected, and errors of the file system
 */
export async function createCatalog({ dataDir, samplesDir }: NewCatalog): Promise<void> {
  const paths = catalogPaths(dataDir);
  const draftDir = createDraftFolder(dataDir);
  try {
    const draft = catalogPaths(draftDir);
    const writer = openCatalogWriter(draft);
    try {
      if (samplesDir !== null) await importSamples(writer, samplesDir);
      writer.beginChangeLog();
    } finally {
      writer.close();
    }
    if (existsSync(paths.database)) return;
    // Pictures first: a catalog never refers to a missing picture.
    if (existsSync(draft.images)) {
      makeDirectory(paths.images);
      for (const name of readdirSync(draft.images)) linkUnlessThere(join(draft.images, name), join(paths.images, name));
    }
    linkUnlessThere(draft.database, paths.database);
  } finally {
    rmSync(draftDir, { recursive: true });
  }
}

async function importSamples(writer: CatalogWriter, samplesDir: string): Promise<void> {
  const file = join(samplesDir, 'channels.ndjson');
  await importChannels(writer, createReadStream(file), {
    imagesFrom: join(samplesDir, 'images'),
    onRefused(lineNumber, reason) {
      throw new CatalogUnusableError(`${file} is broken: line ${lineNumber}: ${reason}`);
    },
  });
}

/** Unlike a rename, a link never replaces a file. */
function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  }
}
