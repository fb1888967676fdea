import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { printable } from '../../domain/printable.ts';
import type { RedisAddress } from '../../lib/redis/redis-url.ts';
import type { Purge, PurgedChannel } from '../../services/purge.ts';
import type { StoreBackend } from '../../store/store.ts';
import type { SubCommand } from '../command-group.ts';
import type { Output } from '../command-line.ts';

/** The service's stores, opened by this process. */
export interface OpenedStores {
  readonly purge: Purge;
  /** Why a component cannot be used at the moment. */
  problems(): readonly string[];
  close(): Promise<void>;
}

export interface CacheContext extends Output {
  readonly dataDir: string;
  /** Set if Redis replaces `cache.db` for all instances. */
  readonly redis: RedisAddress | undefined;
  /** The quota of the pictures on disk. */
  readonly imageCacheBytes: number;
  /** The address of the private listener on this machine. `undefined`: there is none. */
  readonly consoleOrigin: string | undefined;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The store of a data directory, for commands that only read it. */
  storeIn(dataDir: string): StoreBackend;
  openStores(dataDir: string): Promise<OpenedStores>;
}

export type CacheCommand = SubCommand<CacheContext>;

/** @throws CacheCommandError if the directory does not exist, because it would be created instead of the mistake reported. */
export function requireDataDir(dataDir: string): void {
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new CacheCommandError(`There is no directory ${dataDir}: set DATA_DIR, or give --data-dir DIR.`);
}

/** The command failed for a reason outside of it. The message is for the operator. */
export class CacheCommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options);
  }
}

type Order = { readonly channel: string } | { readonly everything: true };

const ANSWER_MS = 60_000;

/**
 * Sends the purge to the running service of this `DATA_DIR`, because only it can clear its memory. `undefined` if no
 * service responds, if it has another `DATA_DIR`, or if nothing is known by the name.
 *
 * @throws CacheCommandError if the service reports a failure
 */
export async function askRunningService(
  { consoleOrigin, dataDir }: CacheContext,
  order: Order,
): Promise<PurgedChannel | undefined> {
  if (consoleOrigin === undefined) return undefined;
  const answer = await post(`${consoleOrigin}/purge`, { ...order, dataDir: await realpath(dataDir) });
  if (answer === undefined) return undefined;
  if (answer.status >= 500) {
    const { detail = `status ${answer.status}` } = (await answer.json().catch(() => ({}))) as { detail?: string };
    throw new CacheCommandError(`The running service at ${consoleOrigin} could not do all of it: ${detail}`);
  }
  return answer.ok ? ((await answer.json()) as PurgedChannel) : undefined;
}

async function post(url: string, body: object): Promise<Response | undefined> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-pennant-console': 'command line' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    // Nothing listens at this address.
    if (error instanceof TypeError) return undefined;
    throw new CacheCommandError(`${url} has not answered within ${ANSWER_MS / 1000} s.`, { cause: error });
  }
}
