/**
 * Several machines on one: real Redis, three instances and nginx on loopback, and what must hold between them.
 * `npm run test:cluster`; exit code 1 when anything did not.
 */
import { formatTable, type Row } from '../../bench/report.ts';
import { findNginx } from '../helpers/front.ts';
import { findRedisServer } from '../helpers/redis.ts';
import { CHECKS, type Check } from './checks.ts';
import { type Cluster, startCluster } from './cluster.ts';

const MAX_RUN_MS = 170_000;
const SHOWN_FAULTS = 5;

if (!findNginx() || !findRedisServer()) process.exit(0);

// A part that hangs must not hang whoever waits for this.
setTimeout(() => {
  console.error(`not finished after ${MAX_RUN_MS / 1000} s`);
  process.exit(1);
}, MAX_RUN_MS).unref();

const startedAtMs = performance.now();
const cluster = await startCluster();
const rows: Row[] = [];
try {
  for (const check of CHECKS) rows.push(await runCheck(check, cluster));
} finally {
  await cluster.stop();
}

const failed = rows.filter(({ isMet }) => isMet !== true).length;
console.log(`\n${formatTable(rows)}\n`);
console.log(`${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`);
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function runCheck({ name, run }: Check, running: Cluster): Promise<Row> {
  console.log(`${name} …`);
  const { measured, faults } = await run(running).catch((error: unknown) => ({
    measured: 'not finished',
    faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  }));
  for (const fault of faults.slice(0, SHOWN_FAULTS)) console.log(`  ${fault}`);
  if (faults.length > SHOWN_FAULTS) console.log(`  … and ${faults.length - SHOWN_FAULTS} more`);
  return { part: 'cluster', what: name, measured, isMet: faults.length === 0 };
}
