import { copyFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { parseConfig } from '../../src/config/settings.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The DATA_DIR of a service that has started once and has empty caches. */
    readonly startedDataDir: string;
  }
}

/** Set-up of Vitest: creates the files of a DATA_DIR once. Creating them takes half of the CPU time of a service's start. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  const config = parseConfig({ SOURCES: 'catalog', DATA_DIR: dataDir });
  // Not before `build.ts` has compiled the pages, which are read when the module is loaded.
  const { buildApp } = await import('../../src/app/build.ts');
  const app = await buildApp(config, { logger: pino({ level: 'silent' }), version: '0.0.0-test' });
  await app.close();
  provide('startedDataDir', dataDir);
  return () => rm(dataDir, { recursive: true });
}

/** A DATA_DIR for the running test with empty caches. It is removed at its end. */
export async function createDataDir(): Promise<string> {
  const dataDir = await createTemporaryDirectory();
  copyStartedDataDir(dataDir);
  return dataDir;
}

/** Copies the file of the caches into a new DATA_DIR. */
export function copyStartedDataDir(dataDir: string): void {
  const started = inject('startedDataDir');
  copyFileSync(join(started, 'cache.db'), join(dataDir, 'cache.db'));
}
