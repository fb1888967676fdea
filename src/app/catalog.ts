import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type Catalog, openCatalog, SHIPPED_SAMPLES_DIR } from '../sources/catalog/catalog.ts';

/** The folder of the operator's own channels, also if it does not exist yet. */
export function ownCatalogFolder({ catalog, dataDir }: Config): string {
  return catalog ?? join(dataDir, 'catalog');
}

/** The folder that a start uses: without one of the operator, the samples. */
export function chooseCatalogFolder(config: Config): string {
  const own = ownCatalogFolder(config);
  return config.catalog !== undefined || existsSync(own) ? own : SHIPPED_SAMPLES_DIR;
}

/**
 * The catalog, if `SOURCES` names it. A problem that it has later is a condition.
 *
 * @param onChange called after the channels have changed
 * @throws CatalogUnusableError
 */
export async function openOwnCatalog(
  config: Config,
  { clock, health }: Runtime,
  onChange: () => void,
): Promise<Catalog | undefined> {
  if (!config.sources.includes('catalog')) return undefined;
  return openCatalog({
    folder: chooseCatalogFolder(config),
    clock,
    onChange,
    onStateChange: (problem) => health.report('catalog', problem),
  });
}
