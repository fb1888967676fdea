import { constants } from 'node:fs';
import { access, mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nearestExisting } from '../../lib/nearest-existing.ts';
import { cachePaths } from '../../store/cache-paths.ts';

interface DataDirFinding {
  readonly level: 'ok' | 'error';
  readonly text: string;
}

/**
 * Whether the data directory and the pictures in it can be used by this user. Writes where it can: missing rights, a
 * read-only disk and a full one all show.
 */
export async function checkDataDir(dataDir: string): Promise<DataDirFinding> {
  const existing = nearestExisting(dataDir);
  try {
    await rmdir(await mkdtemp(join(existing, 'pennant-check-')));
  } catch (error) {
    return { level: 'error', text: `DATA_DIR ${dataDir} cannot be written: ${(error as Error).message}` };
  }
  if (existing !== dataDir) return { level: 'ok', text: `DATA_DIR ${dataDir} will be made` };
  const { pictures } = cachePaths(dataDir);
  const folders = [pictures, ...(await namesIn(pictures)).map((name) => join(pictures, name))];
  const problem = await findAccessProblem(folders, 'written');
  if (problem === undefined) return { level: 'ok', text: `DATA_DIR ${dataDir} can be written` };
  return { level: 'error', text: `DATA_DIR ${dataDir} cannot be used: ${problem}` };
}

/** SQLite keeps its write-ahead log and the log's index beside a database. */
export function withLog(database: string): string[] {
  return [database, `${database}-wal`, `${database}-shm`];
}

const MODES = { read: constants.R_OK, written: constants.R_OK | constants.W_OK };

/** What an earlier run has left that this user may not use; often it was another user's run. What is missing is fine. */
export async function findAccessProblem(
  paths: readonly string[],
  mode: keyof typeof MODES,
): Promise<string | undefined> {
  const checks = paths.map(async (path) => {
    try {
      await access(path, MODES[mode]);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? undefined : `${path} cannot be ${mode} (${code})`;
    }
  });
  const problems = (await Promise.all(checks)).filter((problem) => problem !== undefined);
  return problems.length > 1 ? `${problems[0]}, and ${problems.length - 1} more` : problems[0];
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch {
    // Absent, or reported as a folder that cannot be written.
    return [];
  }
}
