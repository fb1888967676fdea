/** Several workers that repeat the work until they are stopped. @param work gets the worker's index */
export function repeat(workers: number, work: (worker: number) => Promise<unknown>) {
  let isStopped = false;
  const working = Array.from({ length: workers }, async (_, worker) => {
    while (!isStopped) await work(worker);
  });
  return {
    /** Starts no further work. Resolves when current work is done. */
    async stop() {
      isStopped = true;
      await Promise.all(working);
    },
  };
}
