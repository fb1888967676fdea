/**
 * For `node --import`: from SIGUSR2 on, the disk hangs. A thread of Node's pool and a worker thread wait for it, writes never end,
 * and a line says so. The pipe `HANGING_PIPE` has no writer.
 */
import { open } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { Worker } from 'node:worker_threads';

const pipe = process.env.HANGING_PIPE ?? '';
const OPEN = "require('node:fs').openSync(require('node:worker_threads').workerData)";

process.on('SIGUSR2', () => {
  const never = () => new Promise<never>(() => undefined);
  Object.assign(promises, { open: never, writeFile: never, rename: never });
  syncBuiltinESMExports();
  open(pipe, () => undefined);
  new Worker(OPEN, { eval: true, workerData: pipe, execArgv: [] }).once('online', () => console.log('the disk hangs'));
});
