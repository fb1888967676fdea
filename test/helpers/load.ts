export interface RepeatedWork {
  /** Starts no further work. Resolves when current work is done. */
  stop(): Promise<void>;
}

/** Several workers that repeat the work until they are stopped. @param work gets the worker's index */
export function repeat(workers: number, work: (worker: number) => Promise<unknown>): RepeatedWork {
  let isStopped = false;
  const working = Array.from({ length: workers }, async (_, worker) => {
    while (!isStopped) await work(worker);
  });
  return {
    async stop() {
      isStopped = true;
      await Promise.all(working);
    },
  };
}
