/** A thread that runs one module after the other (`thread-pool.ts`), each as in a thread of its own. */
import { syncBuiltinESMExports } from 'node:module';
import threads, { type MessagePort, parentPort } from 'node:worker_threads';

interface Task {
  readonly module: string;
  readonly workerData: unknown;
  /** The module's `parentPort`. It closes it when it ends. */
  readonly port: MessagePort;
}

const owner = parentPort;
let tasks = 0;

owner?.on('message', async ({ module, workerData, port }: Task) => {
  Object.assign(threads, { workerData, parentPort: port });
  syncBuiltinESMExports();
  port.on('close', () => owner.postMessage('idle'));
  tasks += 1;
  // The fragment makes it another module, which runs again.
  await import(`${module}#${tasks}`);
});
