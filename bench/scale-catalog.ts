import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { channelIdRef } from '../src/domain/identifier.ts';
import { importChannels } from '../src/sources/catalog/import.ts';
import { type CatalogReader, openForReading } from '../src/sources/catalog/reader.ts';
import { catalogPaths } from '../src/sources/catalog/schema.ts';
import { withWriter } from '../src/sources/catalog/writer.ts';
import { catalogLines, catalogQueries, channelIdOf, EXPENSIVE_QUERIES } from './catalog-content.ts';
import type { Print, Row } from './report.ts';
import { atMost, CONSTANT, cpuTimesOf, format, medianCpuMs, type Pair, scaleRow, spread } from './scale-report.ts';
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
const EXPENSIVE_LIMIT = atMost(50, 'ms');

interface Catalog {
  readonly count: number;
  readonly reader: CatalogReader;
  readonly importSeconds: number;
  /** CPU time for each channel. */
  readonly importUs: number;
  readonly openMs: number;
}

interface Times {
  readonly lookUps: number[];
  readonly searches: number[];
}

/** Catalogs with very similar titles and handles, read in the same way as by the catalog's thread. */
export function benchCatalogAtScale(print: Print, sizes: Pair): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const small = await makeCatalog(print, join(directory, 'small'), sizes.small);
    const large = await makeCatalog(print, join(directory, 'large'), sizes.large);
    print('searching them in turn');
    const [inSmall, inLarge] = await measureInTurn(small, large);
    const pair = (name: 'importSeconds' | 'importUs' | 'openMs') => ({ small: small[name], large: large[name] });
    const medians = (name: keyof Times) => ({
      small: summarize(inSmall[name]).median,
      large: summarize(inLarge[name]).median,
    });
    const slowest = { small: Math.max(...inSmall.searches), large: Math.max(...inLarge.searches) };
    const rows = [
      scaleRow('catalog: import', sizes, pair('importSeconds'), 's'),
      scaleRow('catalog: import, for each channel, CPU time', sizes, pair('importUs'), 'µs', CONSTANT),
      scaleRow('catalog: opened, CPU time', sizes, pair('openMs'), 'ms', CONSTANT),
      scaleRow('catalog: a channel by ID, CPU time', sizes, medians('lookUps'), 'ms', CONSTANT),
      scaleRow(`catalog: median of ${SEARCHES} searches, CPU time`, sizes, medians('searches'), 'ms', CONSTANT),
      scaleRow('catalog: slowest of these, CPU time', sizes, slowest, 'ms', EXPENSIVE_LIMIT),
    ];
    for (const [name, query] of Object.entries(EXPENSIVE_QUERIES)) {
      const times = { small: await searchMs(small.reader, query), large: await searchMs(large.reader, query) };
      rows.push(scaleRow(`catalog: search, ${name}, CPU time`, sizes, times, 'ms', EXPENSIVE_LIMIT));
    }
    for (const { reader } of [small, large]) reader.close();
    return rows;
  });
}

async function makeCatalog(print: Print, directory: string, count: number): Promise<Catalog> {
  await mkdir(directory);
  const paths = catalogPaths(directory);
  const file = join(directory, 'channels.ndjson');
  await pipeline(linesOf(count), createWriteStream(file));
  print(`importing ${format(count)} channels`);
  const startedMs = performance.now();
  const importCpuMs = await medianCpuMs(1, () =>
    withWriter(paths, async (writer) => {
      const { added } = await importChannels(writer, createReadStream(file), { imagesFrom: directory });
      if (added !== count) throw new Error(`${added} of ${count} channels were imported`);
    }),
  );
  const importSeconds = (performance.now() - startedMs) / 1000;
  await rm(file);
  const openMs = await medianCpuMs(5, () => openForReading(paths.database).close());
  const reader = openForReading(paths.database);
  return { count, reader, importSeconds, importUs: (importCpuMs * 1000) / count, openMs };
}

function* linesOf(count: number): Generator<string> {
  for (const line of catalogLines(count)) yield `${line}\n`;
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
