import { statSync } from 'node:fs';
import { printable } from '../../domain/printable.ts';
import type { RedisAddress } from '../../lib/redis/redis-url.ts';
import type { Purge } from '../../services/purge.ts';
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
