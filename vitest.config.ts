import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { HANG_MS, WAIT } from './test/helpers/wait.ts';

/** `npm test` */
const isCoreOnly = process.argv.includes('core');

// Only a hang reaches these limits, because a busy machine must not fail a test. A poll ends first: its error has the value.
const COMMON = {
  testTimeout: 2 * HANG_MS,
  hookTimeout: 2 * HANG_MS,
  expect: { poll: WAIT },
  // Tests wait for encoders and processes half of their time, on two cores too.
  maxWorkers: 3,
};

/** Once, before all projects. */
const SET_UP = ['build.ts', 'started-data-dir.ts'].map((file) => join(import.meta.dirname, 'test/helpers', file));

/** For processes that tests start. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') };

/** It runs in its own process, because it measures the whole process. */
const MEASURES_MEMORY = 'test/e2e/held-in-memory.test.ts';
const MEMORY_TESTS = { name: 'core-memory', include: [MEASURES_MEMORY], env, ...COMMON };

/** Unit and contract tests, and the service in one process. They need only npm's packages. */
const CORE_TESTS = {
  name: 'core',
  include: ['{src,web}/**/*.test.ts', 'test/contracts/*.test.ts', 'test/e2e/*.test.ts'],
  exclude: [MEASURES_MEMORY],
  // The files share no module state, and loading the service for each of them would take half of the time.
  isolate: false,
  env,
  ...COMMON,
};

/** These use packages of tools/ (CONTRIBUTING.md). */
const TOOL_TESTS = 'tools/*/*.test.ts';

/** False: the tests that need them are skipped by name. @throws Error in CI, where no test may be skipped */
function hasTools(): boolean {
  if (existsSync(join(import.meta.dirname, 'tools/node_modules'))) return true;
  if (process.env.CI) throw new Error('The packages of tools/ are needed here: npm ci --prefix tools');
  process.stdout.write(`SKIPPED: the packages of tools/ are not installed, so ${TOOL_TESTS} are not run.\n`);
  return false;
}

/** Processes of the service, Redis, nginx, browsers, the package and the documents. */
const SYSTEM_TESTS = {
  name: 'system',
  include: ['test/system/*.test.ts', ...(isCoreOnly || !hasTools() ? [] : [TOOL_TESTS])],
  ...COMMON,
};

/** If one of these started last, the other worker would have nothing to do. */
const LONGEST = /\/(?:documents-changes|documents|playground|deploy)\.test\.ts$/;

/** Starts the longest files of the last project first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project, moduleId }: TestSpecification) =>
      project.name === SYSTEM_TESTS.name ? (LONGEST.test(moduleId) ? 1 : 2) : 0;
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    globalSetup: SET_UP,
    projects: [{ test: CORE_TESTS }, { test: MEMORY_TESTS }, { test: SYSTEM_TESTS }],
    sequence: { sequencer: LongestFirst },
  },
});
