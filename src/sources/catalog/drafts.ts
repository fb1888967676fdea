import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../lib/make-directory.ts';

/* Folders in which a new catalog is made before it takes its name. */

const PREFIX = 'catalog.new-';
/** Far longer than a draft takes: another process may be writing one at this moment. */
const ABANDONED_MS = 600_000;

/** Makes a folder for a draft, and removes those that a process which was killed has left. */
export function createDraftFolder(dataDir: string): string {
  makeDirectory(dataDir);
  for (const path of draftsIn(dataDir, PREFIX)) {
    const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedAtMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(join(dataDir, ownPrefix()));
}

/** For a process that ends before its draft is done. What cannot be removed stays until it counts as abandoned. */
export function removeOwnDrafts(dataDir: string): void {
  try {
    for (const path of draftsIn(dataDir, ownPrefix())) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

function ownPrefix(): string {
  return `${PREFIX}${process.pid}-`;
}

function draftsIn(dataDir: string, prefix: string): string[] {
  if (statSync(dataDir, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(dataDir)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(dataDir, name));
}
