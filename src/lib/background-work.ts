export interface BackgroundWork {
  /** Looks at all tasks about once a minute from a minute after now on; never keeps the process alive. */
  start(): void;
  /** Looks at all tasks now: each decides whether it is due. */
  runDue(): Promise<void>;
  stop(): void;
}

export interface BackgroundWorkOptions {
  readonly tasks: readonly (() => Promise<void>)[];
  /** Told of bugs: what may fail in a task is the task's own business. */
  readonly onError: (error: unknown) => void;
}

const CHECK_MS = 60_000;

/** Work that no request waits for. */
export function createBackgroundWork({ tasks, onError }: BackgroundWorkOptions): BackgroundWork {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    const outcomes = await Promise.allSettled(tasks.map((task) => task()));
    for (const outcome of outcomes) if (outcome.status === 'rejected') onError(outcome.reason);
    running = undefined;
  }

  function runDue(): Promise<void> {
    running ??= runAll();
    return running;
  }

  return {
    start() {
      timer ??= setInterval(runDue, CHECK_MS).unref();
    },
    runDue,
    stop: () => clearInterval(timer),
  };
}
