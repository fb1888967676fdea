const CHECK_MS = 60_000;

/**
 * Work that no request waits for.
 *
 * @param onError gets bugs only: tasks handle their expected failures themselves
 */
export function createBackgroundWork(tasks: readonly (() => Promise<void>)[], onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    await Promise.all(tasks.map((task) => task().catch(onError)));
    running = undefined;
  }

  /** Runs all tasks now. Each decides whether it is due. */
  function runDue(): Promise<void> {
    running ??= runAll();
    return running;
  }

  return {
    runDue,
    /** Runs all tasks once a minute, for the first time after a minute. Does not keep the process alive. */
    start() {
      timer ??= setInterval(runDue, CHECK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}
