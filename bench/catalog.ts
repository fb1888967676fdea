import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createCatalogSource } from '../src/sources/catalog/catalog.ts';
import { importChannels } from '../src/sources/catalog/import.ts';
import { catalogPaths } from '../src/sources/catalog/schema.ts';
import { openCatalogWriter } from '../src/sources/catalog/writer.ts';
import { catalogLines, catalogQueries } from './catalog-content.ts';
import { formatTable, type Row } from './report.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CHANNELS = 100_000;
const QUERIES = 1_000;
const HITS = 20;
const TARGETS = { importMs: 60_000, medianMs: 10, worstMs: 30 };

/** An import of 100,000 channels, and 1,000 consecutive searches in the same way as the server. */
export function benchCatalog(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory(async (dataDir) => {
    const file = join(dataDir, 'channels.ndjson');
    await writeLines(file, catalogLines(CHANNELS));
    print(`importing ${CHANNELS} channels`);
    const importMs = await measureImport(dataDir, file, CHANNELS);
    print(`searching ${QUERIES} times`);
    const searches = await measureSearches(dataDir);
    return rowsOf(importMs, searches);
  });
}

interface SearchFigures {
  readonly medianMs: number;
  readonly worstMs: number;
  readonly worstQuery: string;
  /** The longest delay of the event loop. */
  readonly blockedMs: number;
}

export async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  const output = createWriteStream(path);
  for (const line of lines) {
    if (!output.write(`${line}\n`)) await once(output, 'drain');
  }
  output.end();
  await once(output, 'close');
}

/** @returns milliseconds */
export async function measureImport(dataDir: string, file: string, count: number): Promise<number> {
  const startedMs = performance.now();
  const writer = openCatalogWriter(catalogPaths(dataDir));
  const { added } = await importChannels(writer, createReadStream(file), { imagesFrom: dataDir });
  writer.close();
  if (added !== count) throw new Error(`${added} of ${count} channels were imported`);
  return performance.now() - startedMs;
}

async function measureSearches(dataDir: string): Promise<SearchFigures> {
  const source = createCatalogSource({ dataDir, samplesDir: null });
  const { signal } = new AbortController();
  // The thread starts and opens the database.
  await source.search('warm up', HITS, { signal });
  const eventLoop = monitorEventLoopDelay({ resolution: 1 });
  eventLoop.enable();
  const timings: { query: string; ms: number }[] = [];
  for (const query of catalogQueries(QUERIES)) {
    const startedMs = performance.now();
    await source.search(query, HITS, { signal });
    timings.push({ query, ms: performance.now() - startedMs });
  }
  eventLoop.disable();
  await source.close();
  const { median, highest } = summarize(timings.map(({ ms }) => ms));
  const worstQuery = timings.find(({ ms }) => ms === highest)?.query ?? '';
  return { medianMs: median, worstMs: highest, worstQuery, blockedMs: eventLoop.max / 1e6 };
}

function rowsOf(importMs: number, searches: SearchFigures): Row[] {
  const { medianMs, worstMs, worstQuery, blockedMs } = searches;
  return [
    {
      part: 'catalog',
      what: `import of ${CHANNELS} channels`,
      measured: `${(importMs / 1000).toFixed(1)} s`,
      target: 'under 60 s',
      isMet: importMs < TARGETS.importMs,
      figures: { importMs },
    },
    {
      part: 'catalog',
      what: `median of ${QUERIES} searches`,
      measured: `${medianMs.toFixed(2)} ms`,
      target: 'under 10 ms',
      isMet: medianMs < TARGETS.medianMs,
      figures: searches,
    },
    {
      part: 'catalog',
      what: `slowest search ("${worstQuery}")`,
      measured: `${worstMs.toFixed(2)} ms`,
      target: 'under 30 ms',
      isMet: worstMs < TARGETS.worstMs,
    },
    { part: 'catalog', what: 'longest pause of the event loop meanwhile', measured: `${blockedMs.toFixed(1)} ms` },
  ];
}

if (import.meta.main) console.log(formatTable(await benchCatalog((line) => console.log(line))));
