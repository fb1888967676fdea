/**
 * Checks a cluster on one machine: real Redis, three instances and nginx on loopback. `npm run test:cluster` accepts the
 * options of the fault suite. The exit code is 1 if a check failed.
 */
import { runSubjects } from '../faults/runner.ts';
import { findNginx } from '../helpers/front.ts';
import { findRedisServer } from '../helpers/redis.ts';
import { CHECKS } from './checks.ts';
import { startCluster } from './cluster.ts';

const MAX_RUN_MS = 170_000;

if (!findNginx() || !findRedisServer()) process.exit(0);

// A component that hangs must not block the caller.
setTimeout(() => {
  console.error(`not finished after ${MAX_RUN_MS / 1000} s`);
  process.exit(1);
}, MAX_RUN_MS).unref();

await runSubjects([
  {
    name: 'cluster',
    async run(context) {
      const cluster = await startCluster(context);
      try {
        for (const { name, run } of CHECKS) await context.measure('cluster', name, () => run(cluster));
      } finally {
        await cluster.stop();
      }
    },
  },
]);
