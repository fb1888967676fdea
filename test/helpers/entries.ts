import { createCacheFile } from '../../src/cache/cache-file.ts';
import { CACHE_SCHEMA, createRows, createValueStore } from '../../src/cache/rows.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createManualClock } from './clock.ts';
import { createTestRuntime } from './runtime.ts';

/** The entries of a `cache.db`, as a process of its own opens them. */
export function openEntries(path: string, { clock = createManualClock(), maxBytes = 2 ** 26 }: EntriesOptions = {}) {
  const runtime = createTestRuntime({ clock });
  const file = createCacheFile({ path, schema: CACHE_SCHEMA, runtime });
  const rows = createRows({ file, quotas: { values: maxBytes, images: 0 }, runtime });
  return { table: { ...createValueStore(rows), close: async () => file.close() }, file, runtime };
}

interface EntriesOptions {
  readonly clock?: Clock;
  readonly maxBytes?: number;
}
