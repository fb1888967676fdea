import { createReadStream, linkSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../lib/make-directory.ts';
import { importChannels } from './import.ts';
import { type CatalogPaths, CatalogUnusableError } from './schema.ts';
import { type CatalogWriter, openCatalogWriter } from './writer.ts';

export interface CreateCatalogOptions {
  readonly dataDir: string;
  readonly paths: CatalogPaths;
  /** A folder with `channels.ndjson` and `images/`; `null` leaves the new catalog empty. */
  readonly samplesDir: string | null;
}

const DRAFT_PREFIX = 'catalog.new-';
/** Far longer than a draft takes: another process may be writing one at this moment. */
const DRAFT_ABANDONED_MS = 600_000;

/**
 * Makes a new catalog, complete or not at all: it is built aside and takes its name when it is done. Where another
 * process was first, that one stays and this one is dropped.
 *
 * @throws CatalogUnusableError when a sample is refused, and what the file system throws.
 */
export async function createCatalog({ dataDir, paths, samplesDir }: CreateCatalogOptions): Promise<void> {
  makeDirectory(dataDir);
  removeOldDrafts(dataDir);
  const draftDir = mkdtempSync(join(dataDir, DRAFT_PREFIX));
  try {
    const draft = { ...paths, database: join(draftDir, 'catalog.db') };
    await writeDraft(draft, samplesDir);
    linkUnlessThere(draft.database, paths.database);
  } finally {
    rmSync(draftDir, { recursive: true });
  }
}

/** What a process that was killed in the middle has left. */
function removeOldDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue;
    const path = join(dataDir, name);
    const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedAtMs > DRAFT_ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function writeDraft(draft: CatalogPaths, samplesDir: string | null): Promise<void> {
  const writer = openCatalogWriter(draft);
  try {
    if (samplesDir !== null) await importSamples(writer, samplesDir);
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
