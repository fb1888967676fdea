import { join } from 'node:path';

export interface CachePaths {
  readonly database: string;
  /** The folder of originals and pictures. */
  readonly pictures: string;
}

export function cachePaths(dataDir: string): CachePaths {
  return { database: join(dataDir, 'cache.db'), pictures: join(dataDir, 'pictures') };
}
