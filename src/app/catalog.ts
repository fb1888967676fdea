import type { Config } from '../config/settings.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type Catalog, createCatalog, SHIPPED_SAMPLES_DIR } from '../sources/catalog/catalog.ts';

/** The operator's catalog, if `SOURCES` names it. A problem with it is shown in `/readyz`. */
export function openCatalog(config: Config, { clock, health, holders }: Runtime): Catalog | undefined {
  if (!config.sources.includes('catalog')) return undefined;
  const catalog = createCatalog({
    dataDir: config.dataDir,
    samplesDir: config.sampleCatalog ? SHIPPED_SAMPLES_DIR : null,
    clock,
    onStateChange: (problem) => health.report('catalog', problem),
  });
  for (const [name, stats] of Object.entries(catalog.holders)) holders.add(name, stats);
  return catalog;
}
