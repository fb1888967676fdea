import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode, nearestExisting } from '../../lib/file-system.ts';

/* The problems that prevent a start, in the same words at a start and in `serve --check`. */

/** The address of a listener, and the name of the setting for its port. */
export interface ListenerSettings {
  readonly setting: 'PORT' | 'CONSOLE_PORT';
  readonly host: string;
  readonly port: number;
}

/** Why a listener cannot use its address, with the setting to change. */
export function describeListenError({ setting, host, port }: ListenerSettings, error: unknown): string {
  const hostSetting = setting === 'PORT' ? 'HOST' : 'CONSOLE_HOST';
  if (hasErrorCode(error, 'ENOTFOUND', 'EAI_AGAIN')) {
    return `${hostSetting}: "${host}" is not an IP address, and no address is known for this name`;
  }
  if (hasErrorCode(error, 'EADDRNOTAVAIL', 'EINVAL'))
    return `${hostSetting}: ${host} is not an address of this machine`;
  if (hasErrorCode(error, 'EADDRINUSE')) {
    return `${setting}: ${port} on ${host} is used by another process. Choose another one`;
  }
  if (hasErrorCode(error, 'EACCES')) {
    return `${setting}: this user may not use ${port} on ${host}. Choose a port from 1024 on`;
  }
  return `${setting}: ${error instanceof Error ? error.message : String(error)}`;
}

/** As much as a start writes. */
const CHECKED_BYTES = 256 * 1024;

/**
 * Why the directory, or the one that it would be created in, cannot be written. Writes a file, which detects missing rights,
 * a read-only disk and a full disk.
 *
 * @param dataDir absolute
 */
export async function findWriteProblem(dataDir: string): Promise<string | undefined> {
  try {
    const directory = await mkdtemp(join(nearestExisting(dataDir), 'pennant-check-'));
    try {
      // A full disk often has room for a directory.
      await writeFile(join(directory, 'file'), Buffer.alloc(CHECKED_BYTES, 1));
    } finally {
      await rm(directory, { recursive: true });
    }
    return undefined;
  } catch (error) {
    const advice = hasErrorCode(error, 'EACCES') ? '. Give it to the user of the service, or set another DATA_DIR' : '';
    return `DATA_DIR ${dataDir} is not writable: ${(error as Error).message}${advice}`;
  }
}
