import { createCacheFile } from '../../src/cache/cache-file.ts';
import { createEntryTable } from '../../src/cache/entry-table.ts';
import { CACHE_SCHEMA } from '../../src/cache/schema.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createManualClock } from './clock.ts';
import { createTestRuntime } from './runtime.ts';

/** The entries of a `cache.db`, as a process of its own opens them. */
export function openEntries(path: string, { clock = createManualClock(), maxBytes = 2 ** 26 }: EntriesOptions = {}) {
  const runtime = createTestRuntime({ clock });
  const file = createCacheFile({ path, schema: CACHE_SCHEMA, runtime });
  const table = createEntryTable({ file, maxBytes, clock });
  return { table: { ...table, close: async () => file.close() }, file, runtime };
}

interface EntriesOptions {
  readonly clock?: Clock;
  readonly maxBytes?: number;
}
