import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';
import { OperatorError } from '../domain/errors.ts';
import { printable } from '../domain/printable.ts';
import { hasErrorCode } from '../lib/file-system.ts';

/** Exit codes: done; failed in part or whole, with the reason on stderr; invalid command line. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The command line is invalid. The message says why. */
export class UsageError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

/** The command failed for a reason that the operator can change. The message says what to do. */
export class CommandFailure extends OperatorError {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options);
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit codes that shells report for a process ended by a signal (POSIX.1-2024, XCU 2.8.2). */
const EXIT_CODES: Record<StopSignal, number> = { SIGINT: 130, SIGTERM: 143 };

/** A command was stopped before its end. The message says what it has done. */
export class StoppedError extends OperatorError {
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

/** Writes at the speed of the output's reader. Stops quietly when the reader closes the output (`| head`). */
export async function writeLines(stdout: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
  try {
    const written = Readable.from(Iterator.from(lines).map((line) => `${line}\n`));
    await pipeline(written, stdout, { end: false });
  } catch (error) {
    if (!hasErrorCode(error, 'EPIPE')) throw error;
  }
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

/** Aligns the cells of each column. The lines have no spaces at their ends. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const lengthOf = (cell = '') => stripVTControlCharacters(cell).length;
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column])))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - lengthOf(cell))));
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n');
}
