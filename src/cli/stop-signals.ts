const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type StopSignal = (typeof STOP_SIGNALS)[number];

/** As shells report a process that a signal has ended (POSIX.1-2024, XCU 2.8.2). */
const EXIT_CODES: Record<StopSignal, number> = { SIGINT: 130, SIGTERM: 143 };

/** A command was stopped before it had done everything; the message says what it has done. */
export class StoppedError extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal, done: string) {
    super(`Stopped by ${signal}. ${done}`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/** Takes SIGINT and SIGTERM over from the handlers that were there before (bin/start.cjs). */
export function onStopSignal(handler: (signal: StopSignal) => void): void {
  for (const signal of STOP_SIGNALS) {
    const earlier = process.listeners(signal);
    // Added before the others go: without any handler the signal would end the process, or be ignored by process 1.
    process.on(signal, () => handler(signal));
    for (const listener of earlier) process.off(signal, listener);
  }
}
