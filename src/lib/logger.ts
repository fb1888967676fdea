import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { currentRequestId } from './request-context.ts';
import { currentSpan } from './tracing/span.ts';

export type { Logger } from 'pino';

/** The one logger: lines of JSON, or a readable form on a terminal. */
export function createLogger({ level, isTerminal }: { level: string; isTerminal: boolean }): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: requestFields };
  if (!isTerminal) return pino(options);
  return pino(options, pretty({ sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }));
}

function requestFields(): object {
  const requestId = currentRequestId();
  const traceId = currentSpan()?.traceId;
  return {
    ...(requestId !== undefined && { requestId }),
    // Its name in logs by opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context (seen 2026-11).
    ...(traceId !== undefined && { trace_id: traceId }),
  };
}

/** An expected failure in one line: its message and those of its causes, without the stack that only a bug needs. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${describeFailure(error.cause)})`;
}
