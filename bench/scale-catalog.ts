import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { channelIdRef } from '../src/domain/identifier.ts';
import { type CatalogReader, openForReading } from '../src/sources/catalog/reader.ts';
import { catalogPaths } from '../src/sources/catalog/schema.ts';
import { measureImport, writeLines } from './catalog.ts';
import { catalogLines, catalogQueries, channelIdOf, EXPENSIVE_QUERIES } from './catalog-content.ts';
import type { Print } from './parts.ts';
import type { Row } from './report.ts';
import { cpuTimesOf, flatRow, format, medianCpuMs, type Sizes, spread } from './scale-report.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const LOOK_UPS = 1_000;
const SEARCHES = 1_000;
const EXPENSIVE_SEARCHES = 20;
const HITS = 20;
const MAX_EXPENSIVE_MS = 50;

interface Figures {
  readonly importUs: number;
  readonly openMs: number;
  readonly lookUpMs: number;
  readonly searchMs: number;
  readonly slowestMs: number;
  /** The median of each search, by its name. */
  readonly expensiveMs: Readonly<Record<string, number>>;
}

/** A catalog with very similar titles and handles, read in the same way as by its thread. */
export async function benchCatalogAtScale(print: Print, sizes: Sizes): Promise<Row[]> {
  const small = await measureCatalog(print, sizes.small);
  const large = await measureCatalog(print, sizes.large);
  const pair = (name: 'importUs' | 'openMs' | 'lookUpMs' | 'searchMs') => ({ small: small[name], large: large[name] });
  return [
    flatRow('catalog: import, for each channel', sizes, pair('importUs'), 'µs'),
    flatRow('catalog: opened', sizes, pair('openMs'), 'ms'),
    flatRow('catalog: a channel by ID', sizes, pair('lookUpMs'), 'ms'),
    flatRow(`catalog: median of ${SEARCHES} searches`, sizes, pair('searchMs'), 'ms'),
    limitRow('slowest of these', sizes, small.slowestMs, large.slowestMs),
    ...Object.keys(EXPENSIVE_QUERIES).map((name) =>
      limitRow(name, sizes, small.expensiveMs[name] as number, large.expensiveMs[name] as number),
    ),
  ];
}

function limitRow(what: string, sizes: Sizes, small: number, large: number): Row {
  return {
    part: 'scale',
    what: `catalog: search, ${what}, CPU time, ${format(sizes.large)} / ${format(sizes.small)}`,
    measured: `${large.toFixed(1)} / ${small.toFixed(1)} ms`,
    target: `at most ${MAX_EXPENSIVE_MS} ms`,
    isMet: large <= MAX_EXPENSIVE_MS,
  };
}

function measureCatalog(print: Print, count: number): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    const file = join(directory, 'channels.ndjson');
    await writeLines(file, catalogLines(count, { isAlike: true }));
    print(`importing ${format(count)} channels`);
    const [importMs = 0] = await cpuTimesOf(1, () => measureImport(directory, file, count));
    await rm(file);
    print('searching them');
    return { importUs: (importMs * 1000) / count, ...(await measureReader(directory, count)) };
  });
}

async function measureReader(dataDir: string, count: number): Promise<Omit<Figures, 'importUs'>> {
  const path = catalogPaths(dataDir).database;
  const openMs = await medianCpuMs(5, () => openForReading(path)?.close());
  const reader = openForReading(path);
  if (reader === undefined) throw new Error('The catalog is empty.');
  const lookUp = (number: number) => reader.findRecord(channelIdRef(channelIdOf(spread(number, count))));
  const queries = [...catalogQueries(2 * SEARCHES)];
  const search = (number: number) => reader.search(queries[number] as string, HITS);
  // A running service has compiled this code and read the inner pages of the indexes.
  for (let number = 0; number < SEARCHES; number += 1) {
    lookUp(number);
    search(number);
  }
  const lookUpMs = await medianCpuMs(LOOK_UPS, (number) => lookUp(SEARCHES + number));
  const searches = summarize(await cpuTimesOf(SEARCHES, (number) => search(SEARCHES + number)));
  const expensiveMs: Record<string, number> = {};
  for (const [name, query] of Object.entries(EXPENSIVE_QUERIES)) expensiveMs[name] = await searchMs(reader, query);
  reader.close();
  return { openMs, lookUpMs, searchMs: searches.median, slowestMs: searches.highest, expensiveMs };
}

function searchMs(reader: CatalogReader, query: string): Promise<number> {
  return medianCpuMs(EXPENSIVE_SEARCHES, () => reader.search(query, HITS));
}
