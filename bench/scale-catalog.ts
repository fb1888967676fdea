import { mkdir, rm } from 'node:fs/promises';
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

/** Both catalogs are used in turn: a machine that becomes slower during the run must not look like growth. */
const ROUNDS = 20;
const LOOK_UPS_PER_ROUND = 50;
const SEARCHES_PER_ROUND = 50;
const SEARCHES = ROUNDS * SEARCHES_PER_ROUND;
const WARM_UP = 2_000;
const EXPENSIVE_SEARCHES = 20;
const HITS = 20;
const MAX_EXPENSIVE_MS = 50;

interface Catalog {
  readonly count: number;
  readonly reader: CatalogReader;
  readonly importUs: number;
  readonly openMs: number;
}

interface Times {
  readonly lookUps: number[];
  readonly searches: number[];
}

/** Catalogs with very similar titles and handles, read in the same way as by the catalog's thread. */
export function benchCatalogAtScale(print: Print, sizes: Sizes): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const small = await makeCatalog(print, join(directory, 'small'), sizes.small);
    const large = await makeCatalog(print, join(directory, 'large'), sizes.large);
    print('searching them in turn');
    const [inSmall, inLarge] = await measureInTurn(small, large);
    const medians = (name: keyof Times) => ({
      small: summarize(inSmall[name]).median,
      large: summarize(inLarge[name]).median,
    });
    const rows = [
      flatRow('catalog: import, for each channel', sizes, { small: small.importUs, large: large.importUs }, 'µs'),
      flatRow('catalog: opened', sizes, { small: small.openMs, large: large.openMs }, 'ms'),
      flatRow('catalog: a channel by ID', sizes, medians('lookUps'), 'ms'),
      flatRow(`catalog: median of ${SEARCHES} searches`, sizes, medians('searches'), 'ms'),
      limitRow('slowest of these', sizes, Math.max(...inSmall.searches), Math.max(...inLarge.searches)),
    ];
    for (const [name, query] of Object.entries(EXPENSIVE_QUERIES)) {
      rows.push(limitRow(name, sizes, await searchMs(small.reader, query), await searchMs(large.reader, query)));
    }
    for (const { reader } of [small, large]) reader.close();
    return rows;
  });
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

async function makeCatalog(print: Print, directory: string, count: number): Promise<Catalog> {
  await mkdir(directory);
  const file = join(directory, 'channels.ndjson');
  await writeLines(file, catalogLines(count, { isAlike: true }));
  print(`importing ${format(count)} channels`);
  const [importMs = 0] = await cpuTimesOf(1, () => measureImport(directory, file, count));
  await rm(file);
  const path = catalogPaths(directory).database;
  const openMs = await medianCpuMs(5, () => openForReading(path)?.close());
  const reader = openForReading(path);
  if (reader === undefined) throw new Error('The catalog is empty.');
  return { count, reader, importUs: (importMs * 1000) / count, openMs };
}

async function measureInTurn(...catalogs: [Catalog, Catalog]): Promise<[Times, Times]> {
  const queries = [...catalogQueries(WARM_UP + SEARCHES)];
  const lookUp = ({ reader, count }: Catalog, number: number) =>
    reader.findRecord(channelIdRef(channelIdOf(spread(number, count))));
  const search = ({ reader }: Catalog, number: number) => reader.search(queries[number] as string, HITS);
  // A running service has compiled this code and read the inner pages of the indexes.
  for (const catalog of catalogs) {
    for (let number = 0; number < WARM_UP; number += 1) {
      lookUp(catalog, number);
      search(catalog, number);
    }
  }
  const times: [Times, Times] = [
    { lookUps: [], searches: [] },
    { lookUps: [], searches: [] },
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { lookUps, searches }] of times.entries()) {
      const catalog = catalogs[index] as Catalog;
      const from = WARM_UP + round * SEARCHES_PER_ROUND;
      lookUps.push(...(await cpuTimesOf(LOOK_UPS_PER_ROUND, (number) => lookUp(catalog, from + number))));
      searches.push(...(await cpuTimesOf(SEARCHES_PER_ROUND, (number) => search(catalog, from + number))));
    }
  }
  return times;
}

function searchMs(reader: CatalogReader, query: string): Promise<number> {
  return medianCpuMs(EXPENSIVE_SEARCHES, () => reader.search(query, HITS));
}
