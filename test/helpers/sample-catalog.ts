import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { SHIPPED_SAMPLES_DIR } from '../../src/sources/catalog/catalog.ts';
import { createCatalogFile } from '../../src/sources/catalog/import.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with `catalog.db` and its images. */
    readonly sampleCatalog: string;
  }
}

/** Set-up of Vitest: creates the sample catalog, which takes half of the time of a service's start, once for all tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  await createCatalogFile({ dataDir, samplesDir: SHIPPED_SAMPLES_DIR });
  provide('sampleCatalog', dataDir);
  return () => rm(dataDir, { recursive: true });
}
