export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

export interface BackgroundWorkOptions {
  readonly tasks: readonly (() => Promise<void>)[];
  /** Gets bugs only. Tasks handle their expected failures themselves. */
  readonly onError: (error: unknown) => void;
}

const CHECK_MS = 60_000;

/** Work that no request waits for. */
export function createBackgroundWork({ tasks, onError }: BackgroundWorkOptions) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    const outcomes = await Promise.allSettled(tasks.map((task) => task()));
    for (const outcome of outcomes) if (outcome.status === 'rejected') onError(outcome.reason);
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
