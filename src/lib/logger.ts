import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { printable } from './printable.ts';
import { currentRequestId } from './request-scope.ts';

export type { Logger } from 'pino';

/** The service's logger: lines of JSON. @param destination where they go. Default: standard output */
export function createLogger(level: string, destination = standardOutput): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime, mixin: requestFields }, destination);
}

/** The bound of lines that wait for the reader of a pipe. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

let droppedLines = 0;

/** A pipe whose reader is slow never makes the service wait. Files and terminals are written at once. */
const standardOutput: DestinationStream = {
  write(line) {
    if (process.stdout.writableLength > MAX_WAITING_BYTES) droppedLines += 1;
    else process.stdout.write(line);
  },
};

/** Lines that were dropped because the reader of standard output was too slow. */
export function countDroppedLines(): number {
  return droppedLines;
}

/** The lines of a request name it. */
function requestFields(): object {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { requestId };
}

/** An expected failure in one line: its message and those of its causes, without the stack that only a bug needs. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error));
  // An error that was rethrown with more details has the same message.
  if (error.cause instanceof Error && error.cause.message === error.message) return describeFailure(error.cause);
  // The message is empty when a connection to several addresses of one host fails.
  const message = printable(error.message || (error as NodeJS.ErrnoException).code || error.name);
  return error.cause === undefined ? message : `${message} (${describeFailure(error.cause)})`;
}

/** JSON escapes of characters that could control a terminal. Line breaks and tabs, which stacks have, are not among them. */
const CONTROL_ESCAPES = /\\(u00(?:[01][0-9a-f]|7f|[89][0-9a-f])|[bfr])|\\./g;
const RAW_CONTROLS = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

/** Readable lines for a terminal, with the time of day and without process ID and host name. */
export async function createTerminalLog(destination = standardOutput): Promise<DestinationStream> {
  // Loaded only when stdout is a terminal.
  const { prettyFactory } = await import('pino-pretty');
  const prettify = prettyFactory({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' });
  return { write: (line) => destination.write(prettify(withoutControls(line))) };
}

/** Replaces control characters in a line of JSON by visible escapes. */
function withoutControls(line: string): string {
  const escaped = line.replace(CONTROL_ESCAPES, (found, control) => (control === undefined ? found : `\\${found}`));
  return escaped.replace(RAW_CONTROLS, (character) => `\\\\u{${character.charCodeAt(0).toString(16)}}`);
}
