import { createReadStream, linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { importChannels } from './import.ts';
import { type CatalogPaths, CatalogUnusableError, createDraftFolder } from './schema.ts';
import { type CatalogWriter, openCatalogWriter } from './writer.ts';

export interface CreateCatalogOptions {
  readonly dataDir: string;
  readonly paths: CatalogPaths;
  /** A folder with `channels.ndjson` and `images/`; `null` leaves the new catalog empty. */
  readonly samplesDir: string | null;
}

/**
 * Makes a new catalog, complete or not at all: it is built aside and takes its name when it is done. Where another
 * process was first, that one stays and this one is dropped.
 *
 * @throws CatalogUnusableError when a sample is refused, and what the file system throws.
 */
export async function createCatalog({ dataDir, paths, samplesDir }: CreateCatalogOptions): Promise<void> {
  const draftDir = createDraftFolder(dataDir);
  try {
    const draft = { ...paths, database: join(draftDir, 'catalog.db') };
    await writeDraft(draft, samplesDir);
    linkUnlessThere(draft.database, paths.database);
  } finally {
    rmSync(draftDir, { recursive: true });
  }
}

async function writeDraft(draft: CatalogPaths, samplesDir: string | null): Promise<void> {
  const writer = openCatalogWriter(draft);
  try {
    if (samplesDir !== null) await importSamples(writer, samplesDir);
    writer.beginChangeLog();
  } finally {
    writer.close();
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

/** A link, unlike a rename, never replaces a file. */
function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
