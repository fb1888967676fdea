import { type DestinationStream, type Logger, pino } from 'pino';
import { printable } from '../domain/printable.ts';
import { currentRequestId } from './request-context.ts';
import { currentSpan } from './tracing.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Where lines go. Default: standard output, where a line that cannot be written is lost. */
  readonly destination?: DestinationStream | undefined;
}

/** The one logger: lines of JSON. */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: requestFields };
  return pino(options, destination ?? standardOutput());
}

/** Kept for a disk that is full, which has room again later; further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 64 * 1024;

/** By itself the library ends the process over a log file on a full disk. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  output.on('error', () => undefined);
  return output;
}

function requestFields(): object {
  const requestId = currentRequestId();
  const traceId = currentSpan()?.spanContext().traceId;
  return {
    ...(requestId !== undefined && { requestId }),
    // Its name in logs by opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context (seen 2026-11).
    ...(traceId !== undefined && { trace_id: traceId }),
  };
}

/** An expected failure in one line: its message and those of its causes, without the stack that only a bug needs. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error));
  const message = printable(error.message);
  return error.cause === undefined ? message : `${message} (${describeFailure(error.cause)})`;
}
