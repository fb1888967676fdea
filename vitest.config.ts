import { defineConfig } from 'vitest/config';

// Only a hang meets these limits: a busy machine must not fail a test.
const LIMITS = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2 };

/** The service in this process, every unit and every contract: needs npm's packages and nothing else. */
export const CORE_TESTS = {
  name: 'core',
  include: ['src/**/*.test.ts', 'test/contracts/*.test.ts', 'test/e2e/*.test.ts'],
  // The files share no module state, and loading the service for each of them would take half of the time.
  isolate: false,
  ...LIMITS,
};

/** Processes of the service, Redis, nginx, browsers, the package and the documents. */
const SYSTEM_TESTS = {
  name: 'system',
  include: ['test/system/*.test.ts', 'test/browser/*.test.ts', 'test/faults/*.test.ts'],
  ...LIMITS,
};

export default defineConfig({
  test: { projects: [{ test: CORE_TESTS }, { test: SYSTEM_TESTS }] },
});
