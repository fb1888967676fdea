import { type ParseArgsConfig, parseArgs } from 'node:util';
import { printable } from '../domain/printable.ts';

/** Exit codes: done; failed in part or whole, with the reason on stderr; invalid command line. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The command line is invalid. The message says why. */
export class UsageError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

/** The command failed for a reason that the operator can change. The message says what to do. */
export class CommandFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options);
  }
}

export interface Output {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export type Options = NonNullable<ParseArgsConfig['options']>;

const HELP_OPTION = { help: { type: 'boolean', short: 'h' } } as const;

/**
 * `parseArgs` with `--help` among the options.
 *
 * @throws UsageError
 */
export function parseCommandLine<const Known extends Options>(args: readonly string[], options: Known) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...options, ...HELP_OPTION } });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(firstSentence(error.message));
    throw error;
  }
}

/** The rest of the message is advice for arguments that begin with a dash, which no argument here needs. */
function firstSentence(message: string): string {
  return `${message.split('. ', 1)[0]?.replace(/\.$/, '')}.`;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit codes that shells report for a process ended by a signal (POSIX.1-2024, XCU 2.8.2). */
const EXIT_CODES: Record<StopSignal, number> = { SIGINT: 130, SIGTERM: 143 };

/** A command was stopped before its end. The message says what it has done. */
export class StoppedError extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal, done: string) {
    super(`Stopped by ${signal}. ${done}`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/** Replaces the earlier handlers of SIGINT and SIGTERM (bin/start.cjs). */
export function onStopSignal(handler: (signal: StopSignal) => void): void {
  for (const signal of STOP_SIGNALS) {
    const earlier = process.listeners(signal);
    // Added before the others are removed: without a handler the signal would end the process, or be ignored by process 1.
    process.on(signal, () => handler(signal));
    for (const listener of earlier) process.off(signal, listener);
  }
}

/** The message of a file system error (full disk, missing rights) for the operator; `undefined` for all other errors. */
export function systemFailure(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error ? printable(error.message) : undefined;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const UNIT_STEP = 1024;

/** `1.4 MiB` */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(UNIT_STEP)));
  return power === 0 ? `${bytes} bytes` : `${(bytes / UNIT_STEP ** power).toFixed(1)} ${UNITS[power]}`;
}

/** `1 record`, `2 records` */
export function formatCount(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
