import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { printable } from '../../domain/printable.ts';
import type { RedisAddress } from '../../lib/redis/redis-url.ts';
import type { Purge, PurgedChannel } from '../../services/purge.ts';
import type { StoreBackend } from '../../store/store.ts';
import type { SubCommand } from '../command-group.ts';
import type { Output } from '../command-line.ts';

/** The service's own stores, opened beside it. */
export interface OpenedStores {
  readonly purge: Purge;
  /** Why a part cannot be used at the moment. */
  problems(): readonly string[];
  close(): Promise<void>;
}

export interface CacheContext extends Output {
  readonly dataDir: string;
  /** Shared by all instances, in place of `cache.db`. */
  readonly redis: RedisAddress | undefined;
  /** Quota of the pictures on disk. */
  readonly imageCacheBytes: number;
  /** Where the private listener answers when the service runs here; `undefined`: nowhere. */
  readonly consoleOrigin: string | undefined;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The store of a data directory, for what only reads it. */
  storeIn(dataDir: string): StoreBackend;
  openStores(dataDir: string): Promise<OpenedStores>;
}

export type CacheCommand = SubCommand<CacheContext>;

/** @throws CacheCommandError where there is no such directory: it would be made, and the mistake not be seen. */
export function requireDataDir(dataDir: string): void {
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new CacheCommandError(`There is no directory ${dataDir}: set DATA_DIR, or give --data-dir DIR.`);
}

/** Something outside this command is in the way; the message is for the operator. */
export class CacheCommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options);
  }
}

type Order = { readonly channel: string } | { readonly everything: true };

const ANSWER_MS = 60_000;

/**
 * Has the service do it that runs on this `DATA_DIR`, for it alone can forget what it has in memory. `undefined` where
 * none answers, or one with another `DATA_DIR`, or nothing is known by the name.
 *
 * @throws CacheCommandError when it answers that it cannot
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
    // Nobody listens there.
    if (error instanceof TypeError) return undefined;
    throw new CacheCommandError(`${url} has not answered within ${ANSWER_MS / 1000} s.`, { cause: error });
  }
}
