import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { ChannelRef } from '../../domain/identifier.ts';
import { isSystemError } from '../../lib/file-system.ts';
import { serveCalls } from '../../lib/worker-thread.ts';
import { createCatalogFile, type NewCatalog } from './new-catalog.ts';
import { type CatalogReader, openForReading } from './reader.ts';
import { CatalogUnusableError, catalogPaths, explainingFailure } from './schema.ts';

/** Errors lose their class between threads, so the expected one is sent as a value. */
export type CatalogResponse<T> = { readonly value: T } | { readonly unusable: string };

const { dataDir, samplesDir } = workerData as NewCatalog;
const { database } = catalogPaths(dataDir);
let reader: CatalogReader | undefined;
let openedFile: string | undefined;
/** A catalog is created only at the start. If it disappears later, the operator must restore it. */
let isCreationDue = true;

const functions = {
  /** Opens the catalog. Creates it if there is none. */
  open: () => respond(() => undefined),
  find: (ref: ChannelRef) => respond((catalog) => catalog.findChannel(ref)),
  examples: (count: number) => respond((catalog) => catalog.examples(count)),
  search: ({ query, limit }: { readonly query: string; readonly limit: number }) =>
    respond((catalog) => {
      const startedAtMs = performance.now();
      const hits = catalog.search(query, limit);
      return { hits, tookMs: performance.now() - startedAtMs };
    }),
};

export type CatalogFunctions = typeof functions;

serveCalls(functions, close);

async function respond<T>(work: (catalog: CatalogReader) => T): Promise<CatalogResponse<T>> {
  try {
    if (isCreationDue && statSync(database, { throwIfNoEntry: false }) === undefined) {
      await createCatalogFile({ dataDir, samplesDir });
    }
    isCreationDue = false;
    return { value: explainingFailure(database, () => work(openCurrent())) };
  } catch (error) {
    // The next call opens the file again.
    close();
    if (error instanceof CatalogUnusableError) return { unusable: error.message };
    if (isSystemError(error)) return { unusable: `${database} cannot be created or read (${error.message}).` };
    throw error;
  }
}

/** Opens the file that has the name now, because other processes may replace, damage, repair and fill it. */
function openCurrent(): CatalogReader {
  const stats = statSync(database, { bigint: true, throwIfNoEntry: false });
  const file = stats && `${stats.dev}:${stats.ino}`;
  // SQLite still has the pages of a file that was emptied.
  if (file !== openedFile || stats?.size === 0n) close();
  openedFile = file;
  reader ??= openForReading(database);
  return reader;
}

function close(): void {
  reader?.close();
  reader = undefined;
}
