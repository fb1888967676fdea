import { cachePaths } from '../cache/cache-paths.ts';
import { findSchemaProblem } from '../cache/cache-schema.ts';
import type { Config } from '../config.ts';
import { findVersionProblem } from '../sources/catalog/look-into.ts';
import { catalogPaths } from '../sources/catalog/schema.ts';

/** Why the databases in the data directory are not for this version to use; a start is refused then. */
export function findDataVersionProblem({ dataDir, redisUrl, sources }: Config): string | undefined {
  const ofCache = redisUrl === undefined ? findSchemaProblem(cachePaths(dataDir).database) : undefined;
  if (ofCache !== undefined || !sources.includes('catalog')) return ofCache;
  return findVersionProblem(catalogPaths(dataDir).database);
}
