import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { CORE_TESTS, SET_UP } from '../vitest.config.ts';

/*
 * Mutation testing: makes small mistakes in the source, one at a time, and reports those that `npm test` does not
 * detect. The sample is drawn with a seed, so that a run can be repeated.
 */

/** The most important code: rules that clients depend on. Code in other processes and threads is not instrumented. */
const DEFAULT_PATHS = [
  'src/http',
  'src/services',
  'src/store/read-through.ts',
  'src/rate-limit',
  'src/domain/variants.ts',
  'src/sources/youtube',
];
const MAX_LINES = 3;
/** The package exports no program. */
const STRYKER = fileURLToPath(new URL('bin/stryker.js', import.meta.resolve('@stryker-mutator/core/package.json')));
const USAGE = `npm run test:mutants -- [PATH …] [--sample N] [--seed N] [--concurrency N]

PATH          files or folders of src; default: ${DEFAULT_PATHS.join(' ')}
--sample      how many mutants to try; 0 tries all (default: 200)
--seed        which of them (default: 1)
--concurrency how many at the same time (default: 2)`;

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});
const [sampleSize, seed, concurrency] = [Number(values.sample), Number(values.seed), Number(values.concurrency)];
if (values.help || ![sampleSize, seed, concurrency].every(Number.isInteger) || concurrency < 1) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const mutants = await listMutants(sourceFiles(positionals.length === 0 ? DEFAULT_PATHS : positionals));
const ranges = sampleSize === 0 ? mutants : drawRanges(mutants, sampleSize, seed);
console.log(`Trying ${mutants.filter(isWithin(ranges)).length} of ${mutants.length} mutants, seed ${seed}.`);
process.exitCode = await runStryker([...new Set(ranges.map(optionOf))]);

function sourceFiles(paths: readonly string[]): string[] {
  const patterns = paths.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  return globSync(patterns).filter((path) => !path.endsWith('.test.ts'));
}

async function listMutants(paths: readonly string[]): Promise<readonly Mutant[]> {
  const logger = { debug() {}, info() {}, isDebugEnabled: () => false };
  const files = paths.map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  return (await new Instrumenter(logger as never).instrument(files, options)).mutants;
}

/** Ranges of source that hold so many mutants. A range brings every mutant inside it, so large ones are left out. */
function drawRanges(all: readonly Mutant[], count: number, seedNumber: number): Mutant[] {
  const small = all.filter(({ location: { start, end } }) => end.line - start.line < MAX_LINES);
  const drawn: Mutant[] = [];
  for (const mutant of shuffled(small, seedNumber)) {
    if (all.filter(isWithin(drawn)).length >= count) break;
    drawn.push(mutant);
  }
  return drawn;
}

function isWithin(ranges: readonly Mutant[]): (mutant: Mutant) => boolean {
  return (mutant) =>
    ranges.some(
      (range) =>
        range.fileName === mutant.fileName &&
        isBefore(range.location.start, mutant.location.start) &&
        isBefore(mutant.location.end, range.location.end),
    );
}

function isBefore(one: Position, other: Position): boolean {
  return one.line < other.line || (one.line === other.line && one.column <= other.column);
}

/** As Stryker's `mutate` option takes it: `src/a.ts:1:2-3:4`, lines from 1, columns from 0. */
function optionOf({ fileName, location: { start, end } }: Mutant): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

/** Fisher-Yates with a small generator (mulberry32), because `Math.random` takes no seed. */
function shuffled<T>(items: readonly T[], seedNumber: number): T[] {
  let state = seedNumber;
  function random(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const left = [...items];
  for (let index = left.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [left[index], left[other]] = [left[other] as T, left[index] as T];
  }
  return left;
}

async function runStryker(mutate: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'pennant-mutants-'));
  const config = join(directory, 'stryker.json');
  const tests = join(directory, 'vitest.config.mjs');
  writeFileSync(
    tests,
    `export default ${JSON.stringify({ test: { ...CORE_TESTS, globalSetup: SET_UP, exclude: [], env: { TRIES_MUTANTS: 'yes' } } })};`,
  );
  writeFileSync(
    config,
    JSON.stringify({
      mutate,
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: tests },
      coverageAnalysis: 'perTest',
      reporters: ['clear-text', 'progress-append-only'],
      clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: true },
      concurrency,
      dryRunTimeoutMinutes: 20,
      // Stryker rewrites a tsconfig with TypeScript's former API; the tests do not read one.
      tsconfigFile: 'none',
      disableTypeChecks: false,
      // A mutant in a module's constants would need the whole suite in a new process.
      ignoreStatic: true,
      tempDirName: join(directory, 'sandbox'),
      thresholds: { high: 95, low: 85, break: 85 },
    }),
  );
  try {
    const stryker = spawn(process.execPath, [STRYKER, 'run', config], { stdio: 'inherit' });
    const [code] = await once(stryker, 'exit');
    return code ?? 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
