import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError, makeDirectory } from '../../lib/file-system.ts';

/** A folder in which a new catalog is built before it gets its name. */
const DRAFT_PREFIX = 'catalog.new-';
const OWN_PREFIX = `${DRAFT_PREFIX}${process.pid}-`;
/** Much longer than a draft takes: another process may be writing one. */
const ABANDONED_MS = 600_000;

/** Creates a folder for a draft, and removes folders that killed processes left behind. */
export function createDraftFolder(dataDir: string): string {
  makeDirectory(dataDir);
  removeDrafts(dataDir, DRAFT_PREFIX, ABANDONED_MS);
  return mkdtempSync(join(dataDir, OWN_PREFIX));
}

/**
 * Removes the drafts of this process, when it ends early and when it starts: in a container every process has the same ID.
 * What cannot be removed stays until a later start.
 */
export function removeOwnDrafts(dataDir: string): void {
  removeDrafts(dataDir, OWN_PREFIX, Number.NEGATIVE_INFINITY);
}

/** For a start, also one that creates no catalog. */
export function removeAbandonedDrafts(dataDir: string): void {
  removeOwnDrafts(dataDir);
  removeDrafts(dataDir, DRAFT_PREFIX, ABANDONED_MS);
}

function removeDrafts(dataDir: string, prefix: string, minAgeMs: number): void {
  try {
    for (const name of readdirSync(dataDir).filter((each) => each.startsWith(prefix))) {
      const path = join(dataDir, name);
      const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
      if (Date.now() - modifiedAtMs > minAgeMs) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
