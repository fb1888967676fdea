import { createReadStream, existsSync, linkSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode, makeDirectory } from '../../lib/file-system.ts';
import { createDraftFolder } from './drafts.ts';
import { importChannels } from './import.ts';
import { type CatalogPaths, CatalogUnusableError, catalogPaths } from './schema.ts';
import { type CatalogWriter, withWriter } from './writer.ts';

export interface NewCatalog {
  /** The folder of `catalog.db` and `catalog-images/`. It is created if it is missing. */
  readonly dataDir: string;
  /** A folder with `channels.ndjson` and `images/`; `null`: the new catalog is empty. */
  readonly samplesDir: string | null;
}

/**
 * Creates a new catalog. It is built in a draft folder, with its images, and gets its name when it is complete. If
 * another process was faster, its catalog is kept and this one is removed.
 *
 * @throws CatalogUnusableError if a sample is rejected, and errors of the file system
 */
export async function createCatalogFile({ dataDir, samplesDir }: NewCatalog): Promise<void> {
  const paths = catalogPaths(dataDir);
  if (existsSync(paths.database)) return;
  // The log of a former catalog that was moved away: SQLite would add its pages to the new one. Later it may be the log of
  // a catalog that another process has just created.
  for (const suffix of ['-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true });
  const draftDir = createDraftFolder(dataDir);
  try {
    const draft = catalogPaths(draftDir);
    await withWriter(draft, (writer) => (samplesDir === null ? undefined : importSamples(writer, samplesDir)));
    if (existsSync(paths.database)) return;
    // Images first: a catalog never refers to a missing image.
    if (existsSync(draft.images)) {
      makeDirectory(paths.images);
      for (const name of readdirSync(draft.images)) linkUnlessThere(join(draft.images, name), join(paths.images, name));
    }
    linkUnlessThere(draft.database, paths.database);
  } catch (error) {
    if (!(error instanceof CatalogUnusableError)) throw error;
    // The draft has another path in each attempt, so that equal failures would look different.
    throw new CatalogUnusableError(error.message.replace(draftDir, dataDir), { cause: error });
  } finally {
    rmSync(draftDir, { recursive: true });
  }
}

/**
 * Changes the catalog. Creates an empty one if there is none: a service that starts meanwhile must not see half of it.
 *
 * @throws CatalogUnusableError
 */
export async function updateCatalog<T>(
  paths: CatalogPaths,
  work: (writer: CatalogWriter) => Promise<T> | T,
): Promise<T> {
  if (!existsSync(paths.database)) await createCatalogFile({ dataDir: dirname(paths.database), samplesDir: null });
  return withWriter(paths, work);
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
