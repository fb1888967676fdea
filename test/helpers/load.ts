export interface RepeatedWork {
  /** Begins nothing more. Resolves when what has begun is done. */
  stop(): Promise<void>;
}

/** Several workers, each doing the same again and again until stopped. @param work is given the worker's index */
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
