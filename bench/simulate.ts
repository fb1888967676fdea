/**
 * Simulates millions of requests for ten million channels with the service's own caches, and draws the results:
 * `npm run simulate` (some ten minutes), `npm run simulate -- --quick` (a tenth of the traffic, nothing is drawn),
 * `-- --only memory,disk,traffic,arrangements` (some of it).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CACHE_POLICY } from '../src/services/cache-policy.ts';
import { formatColumns } from './report.ts';
import { drawPlot, type Line, type PlotOptions } from './simulation/plot.ts';
import { type Figures, type Scenario, simulate } from './simulation/simulate.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const PLOTS = new URL('../docs/plots/', import.meta.url);
const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** The default scenario. Memory and disk are the settings' defaults. */
const BASE: Scenario = {
  channels: 10_000_000,
  exponent: 1,
  pictureShare: 0.7,
  seed: 20_261,
  instances: 3,
  routing: 'channel',
  isShared: true,
  memoryBytes: 128 * MIB,
  diskBytes: 2 * GIB,
  redisPictureBytes: GIB,
  requestsPerSecond: 100,
  warmUpSeconds: CACHE_POLICY.records.freshMs / 1000,
  measuredSeconds: 600,
};

interface Run {
  readonly scenario: Scenario;
  readonly figures: Figures;
}

const runs: Run[] = [];

async function play(changes: Partial<Scenario>): Promise<Run> {
  const scenario = { ...BASE, ...changes };
  const rate = flags.quick ? scenario.requestsPerSecond / 10 : scenario.requestsPerSecond;
  const figures = await simulate({ ...scenario, requestsPerSecond: rate });
  const run = { scenario: { ...scenario, requestsPerSecond: rate }, figures };
  runs.push(run);
  console.log(rowOf(run).join('  '));
  return run;
}

/** One line for each value of `series`, one point for each value of `steps`. */
async function playGrid<S, X>(
  series: readonly S[],
  steps: readonly X[],
  changesFor: (series: S, step: X) => Partial<Scenario>,
): Promise<Run[][]> {
  const grid: Run[][] = [];
  for (const one of series) {
    const row: Run[] = [];
    for (const step of steps) row.push(await play(changesFor(one, step)));
    grid.push(row);
  }
  return grid;
}

function linesOf(names: readonly string[], grid: Run[][], point: (run: Run) => readonly [number, number]): Line[] {
  return grid.map((row, at) => ({ name: names[at] as string, points: row.map(point) }));
}

async function draw(name: string, options: PlotOptions): Promise<void> {
  if (!flags.quick) await writeFile(new URL(`${name}.svg`, PLOTS), drawPlot(options));
}

const HEADINGS = [
  'instances',
  'sent',
  'shared',
  'exponent',
  'requests/s',
  'MiB memory',
  'GiB disk',
  'hits %',
  'from memory %',
  'loads/s',
  'loads/1,000',
  'encodes/s',
  'MiB in memory, each',
  'MiB records stored',
];

function rowOf({ scenario, figures }: Run): string[] {
  const { counts } = figures;
  return [
    `${scenario.instances}`,
    scenario.routing === 'channel' ? 'by channel' : 'to any',
    scenario.isShared ? 'Redis' : 'no',
    `${scenario.exponent}`,
    `${scenario.requestsPerSecond}`,
    `${scenario.memoryBytes / MIB}`,
    `${scenario.diskBytes / GIB}`,
    (figures.hitRate * 100).toFixed(1),
    (figures.memoryHitRate * 100).toFixed(1),
    figures.loadsPerSecond.toFixed(1),
    (((counts.recordLoads + counts.downloads) / counts.requests) * 1000).toFixed(0),
    figures.encodesPerSecond.toFixed(1),
    (figures.memoryBytesPerInstance / MIB).toFixed(0),
    (figures.storeBytes / MIB).toFixed(0),
  ];
}

const INSTANCE_COUNTS = [1, 3, 9];
const INSTANCE_NAMES = INSTANCE_COUNTS.map((count) => (count === 1 ? '1 instance' : `${count} instances`));

async function playMemory(): Promise<void> {
  const memorySizes = [32, 128, 512, 2_048];
  const byMemory = await playGrid(INSTANCE_COUNTS, memorySizes, (instances, mib) => ({
    instances,
    memoryBytes: mib * MIB,
  }));
  await draw('memory-hits', {
    title: 'Answered from memory alone',
    xLabel: 'MEMORY_CACHE_BYTES of each instance, MiB',
    yLabel: 'share of requests, %',
    xScale: 'log',
    yScale: 'linear',
    lines: linesOf(INSTANCE_NAMES, byMemory, ({ scenario, figures }) => [
      scenario.memoryBytes / MIB,
      figures.memoryHitRate * 100,
    ]),
  });
  await draw('memory-used', {
    title: 'Memory that the caches take',
    xLabel: 'MEMORY_CACHE_BYTES of each instance, MiB',
    yLabel: 'MiB in use by each instance',
    xScale: 'log',
    yScale: 'linear',
    lines: linesOf(INSTANCE_NAMES, byMemory, ({ scenario, figures }) => [
      scenario.memoryBytes / MIB,
      figures.memoryBytesPerInstance / MIB,
    ]),
  });
}

async function playDisk(): Promise<void> {
  const diskSizes = [2, 8, 32, 128];
  const byDisk = await playGrid(INSTANCE_COUNTS, diskSizes, (instances, gib) => ({ instances, diskBytes: gib * GIB }));
  await draw('hits-by-disk', {
    title: 'Hits, by room for pictures',
    xLabel: 'IMAGE_CACHE_BYTES of each instance, GiB',
    yLabel: 'share of requests, %',
    xScale: 'log',
    yScale: 'linear',
    lines: linesOf(INSTANCE_NAMES, byDisk, ({ scenario, figures }) => [
      scenario.diskBytes / GIB,
      figures.hitRate * 100,
    ]),
  });
}

async function playTraffic(): Promise<void> {
  const exponents = [0.8, 1, 1.2];
  const byTraffic = await playGrid(exponents, [10, 30, 100, 300], (exponent, requestsPerSecond) => ({
    exponent,
    requestsPerSecond,
  }));
  const exponentNames = exponents.map((exponent) => `exponent ${exponent}`);
  await draw('hits-by-traffic', {
    title: 'Hits, by how many ask',
    xLabel: 'requests a second, all instances together',
    yLabel: 'share of requests, %',
    xScale: 'log',
    yScale: 'linear',
    lines: linesOf(exponentNames, byTraffic, ({ scenario, figures }) => [
      scenario.requestsPerSecond,
      figures.hitRate * 100,
    ]),
  });
  await draw('loads-by-traffic', {
    title: 'Records and pictures loaded from upstream',
    xLabel: 'requests a second, all instances together',
    yLabel: 'loads a second',
    xScale: 'log',
    yScale: 'log',
    lines: linesOf(exponentNames, byTraffic, ({ scenario, figures }) => [
      scenario.requestsPerSecond,
      figures.loadsPerSecond,
    ]),
  });
}

async function playArrangements(): Promise<void> {
  const arrangements = [
    { name: 'by channel, Redis', routing: 'channel', isShared: true },
    { name: 'by channel, no Redis', routing: 'channel', isShared: false },
    { name: 'to any, Redis', routing: 'any', isShared: true },
    { name: 'to any, no Redis', routing: 'any', isShared: false },
  ] as const;
  const byArrangement = await playGrid(arrangements, [1, 2, 4, 8], ({ routing, isShared }, instances) => ({
    routing,
    isShared,
    instances,
  }));
  await draw('loads-by-instances', {
    title: 'Loads from upstream, by how instances are arranged',
    xLabel: 'instances, for the same 100 requests a second',
    yLabel: 'loads a second',
    xScale: 'log',
    yScale: 'linear',
    lines: linesOf(
      arrangements.map(({ name }) => name),
      byArrangement,
      ({ scenario, figures }) => [scenario.instances, figures.loadsPerSecond],
    ),
  });
}

const PARTS = { memory: playMemory, disk: playDisk, traffic: playTraffic, arrangements: playArrangements };

await mkdir(PLOTS, { recursive: true });
console.log(HEADINGS.join('  '));
const names = flags.only?.split(',') ?? Object.keys(PARTS);
for (const [name, part] of Object.entries(PARTS)) if (names.includes(name)) await part();

console.log(`\n${formatColumns([HEADINGS, ...runs.map(rowOf)])}\n`);

const played = runs.reduce((sum, { figures }) => sum + figures.counts.requests, 0);
console.log(`\n${runs.length} scenarios, ${played.toLocaleString('en')} requests measured after their warm-up`);
