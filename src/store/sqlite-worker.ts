/** The thread that `cache.db` lives in, so that no call to it stops the event loop. */
import { parentPort, workerData } from 'node:worker_threads';
import { type CacheDatabase, createCacheDatabase } from './sqlite-database.ts';
import type { Operation, Reply, Request, Result, WorkerOptions } from './sqlite-messages.ts';
import type { CacheTables } from './sqlite-tables.ts';

const WRITES_BETWEEN_SHRINKING = 16;

if (parentPort === null) throw new Error('This file runs as a worker thread.');
const port = parentPort;
const { path, maxBytes } = workerData as WorkerOptions;
const database: CacheDatabase = createCacheDatabase({
  path,
  maxBytes,
  onRebuilt: (reason) => reply({ kind: 'rebuilt', reason }),
});
let writes = 0;

function reply(message: Reply): void {
  port.postMessage(message);
}

function run(tables: CacheTables, operation: Operation, nowMs: number): Result {
  if (operation.name === 'get') return tables.get(operation.key, nowMs);
  if (operation.name === 'erase') return tables.erase(operation.change, operation.from);
  if (operation.name === 'finish-erasing') tables.finishErasing();
  if (operation.name === 'delete') tables.delete(operation.key);
  if (operation.name === 'set') {
    writes += 1;
    // Before the write: it must make room also where the disk or the quota leaves none.
    if (writes % WRITES_BETWEEN_SHRINKING === 1) tables.shrink(nowMs);
    tables.set(operation.key, operation.entry, nowMs + operation.ttlMs);
  }
  return undefined;
}

port.on('message', ({ id, operation, nowMs, monotonicMs }: Request) => {
  try {
    if (operation.name === 'close') {
      database.close();
      port.close();
      return;
    }
    if (operation.name === 'erase-all') {
      database.beginAnew();
      reply({ kind: 'done', id, result: undefined });
      return;
    }
    const result = database.use((tables) => run(tables, operation, nowMs), monotonicMs);
    reply({ kind: 'done', id, result });
  } catch (error) {
    reply({ kind: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
});
