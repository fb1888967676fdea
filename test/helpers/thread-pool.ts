import { EventEmitter, once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads, { MessageChannel, type MessagePort, type Transferable, type WorkerOptions } from 'node:worker_threads';

/*
 * Set-up of Vitest: a `Worker` uses a thread again whose module has closed its port. Starting the threads of each service
 * would take half of the CPU time of all tests.
 */
const Thread = threads.Worker;
const idle: InstanceType<typeof Thread>[] = [];

/** What `src/lib/worker-thread.ts` uses of a `Worker`. */
class PooledWorker extends EventEmitter {
  readonly #thread = idle.pop() ?? new Thread(new URL('./pooled-thread.ts', import.meta.url), { execArgv: [] });
  readonly #port: MessagePort;

  constructor(module: URL, { workerData }: Pick<WorkerOptions, 'workerData'>) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1.on('message', (message) => this.emit('message', message));
    const closed = once(port1, 'close');
    this.#thread
      .on('error', (error) => this.emit('error', error))
      .on('exit', (code) => this.emit('exit', code))
      .once('message', async () => {
        // Its last results come before.
        await closed;
        this.#thread.removeAllListeners('error').removeAllListeners('exit').unref();
        idle.push(this.#thread);
        this.emit('exit', 0);
      })
      .postMessage({ module: module.href, workerData, port: port2 }, [port2]);
    this.ref();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  ref(): void {
    this.#thread.ref();
    this.#port.ref();
  }

  unref(): void {
    this.#thread.unref();
    this.#port.unref();
  }

  terminate(): Promise<number> {
    return this.#thread.terminate();
  }
}

// Vitest runs set-up files again for every test file, in the same process.
const isPooled = Symbol.for('pooled threads');
if (!(isPooled in threads)) {
  Object.assign(threads, { Worker: PooledWorker, [isPooled]: true });
  syncBuiltinESMExports();
}
