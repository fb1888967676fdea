const CHECK_MS = 60_000;

/**
 * Work that no request waits for.
 *
 * @param onError gets bugs only: tasks handle their expected failures themselves
 */
export function createBackgroundWork(tasks: readonly (() => void)[], onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;

  /** Runs all tasks now. Each decides whether it is due. */
  function runDue(): void {
    for (const task of tasks) {
      try {
        task();
      } catch (error) {
        onError(error);
      }
    }
  }

  return {
    runDue,
    /** Runs all tasks once a minute, for the first time after a minute. Does not keep the process alive. */
    start(): void {
      timer ??= setInterval(runDue, CHECK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}
