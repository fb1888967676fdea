import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/live/**', 'node_modules/**'],
    // Real processes, sockets and encoders: a busy two-core machine needs room.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One more try tells a busy moment of a shared machine from a defect; a retried test still shows as such.
    retry: process.env.CI === undefined ? 0 : 1,
    pool: 'forks',
    maxWorkers: 2,
  },
});
