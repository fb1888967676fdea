import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { SearchHit } from '../../domain/channel.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { serveCalls } from '../../lib/worker-thread.ts';
import { type CatalogReader, createOpenCatalog } from './reader.ts';
import type { CatalogRecord } from './record.ts';
import { createCatalog, type NewCatalog } from './samples.ts';
import { CatalogUnusableError, catalogPaths } from './schema.ts';

/** Errors lose their class on the way between threads, so the expected one travels as a value. */
export type CatalogAnswer<T> = { readonly value: T } | { readonly unusable: string };

const { dataDir, samplesDir } = workerData as NewCatalog;
const paths = catalogPaths(dataDir);
const catalog = createOpenCatalog(paths.database);
/** A catalog is created only at the start. If it disappears later, the operator must restore it. */
let isCreationDue = true;

const functions = {
  /** Opens the catalog. Creates it if there is none. */
  open: () => answer(() => undefined, undefined),
  find: (ref: ChannelRef): Promise<CatalogAnswer<CatalogRecord | undefined>> =>
    answer((reader) => reader.findRecord(ref), undefined),
  search: ({ query, limit }: { readonly query: string; readonly limit: number }): Promise<CatalogAnswer<SearchHit[]>> =>
    answer((reader) => reader.search(query, limit), []),
};

export type CatalogFunctions = typeof functions;

serveCalls(functions);

async function answer<T>(work: (reader: CatalogReader) => T, ofEmptyCatalog: T): Promise<CatalogAnswer<T>> {
  try {
    await createOnce();
    return { value: catalog.query(work) ?? ofEmptyCatalog };
  } catch (error) {
    if (error instanceof CatalogUnusableError) return { unusable: error.message };
    if (isSystemError(error)) return { unusable: `${paths.database} cannot be made or read (${error.message}).` };
    throw error;
  }
}

/** The folder is missing, full, or not accessible. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

async function createOnce(): Promise<void> {
  if (!isCreationDue) return;
  if (statSync(paths.database, { throwIfNoEntry: false }) === undefined) {
    await createCatalog({ dataDir, samplesDir });
  }
  isCreationDue = false;
}
