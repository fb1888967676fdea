import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isSystemError } from '../../lib/file-system.ts';
import { findCatalogProblem, inspectCatalog } from './reader.ts';
import { CatalogVersionError, SCHEMA_VERSION } from './schema.ts';

/** The IDs of all channels in samples/channels.ndjson. YouTube has no such IDs. */
const SAMPLE_IDS = 'UCPennantSample*';

/** True for a catalog of an earlier version that has sample channels only: the samples of this version can replace it. */
export function hasOutdatedSamples(database: string): boolean {
  if (!(findCatalogProblem(database) instanceof CatalogVersionError)) return false;
  try {
    return inspectCatalog(database, isOutdatedWithSamples) === true;
  } catch {
    // Its tables are unknown, so it may have other channels.
    return false;
  }
}

/** Removes such a catalog, so that a new one is created. False if it is another one, or cannot be removed. */
export function removeOutdatedSamples(database: string): boolean {
  if (!hasOutdatedSamples(database)) return false;
  try {
    // The database last: without it, the others would belong to the new one.
    for (const suffix of ['-wal', '-shm', '']) rmSync(`${database}${suffix}`, { force: true });
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

function isOutdatedWithSamples(db: DatabaseSync): boolean {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {};
  const counts = db.prepare('SELECT count(*) AS total, sum(channel_id GLOB ?) AS samples FROM channels');
  const { total, samples } = counts.get(SAMPLE_IDS) ?? {};
  return Number(version) < SCHEMA_VERSION && Number(total) > 0 && total === samples;
}
