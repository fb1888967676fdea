import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AppError, errorCodeOf, isIndeterminate } from '../domain/errors.ts';

export type { Span } from '@opentelemetry/api';

/*
 * Spans with OpenTelemetry's API only. They are recorded when the operator loads an SDK before the service
 * (docs/operating.md); without one every call here does nothing.
 */

interface SpanStart {
  /** One of few values. Variable parts go into attributes. */
  readonly name: string;
  /** True for a call to another service. Default: work of this one. */
  readonly isCall?: boolean;
  /** Names from OpenTelemetry's semantic conventions, otherwise `pennant.…`. `undefined` is omitted. */
  readonly attributes?: Attributes;
}

function tracer(): Tracer {
  return trace.getTracer('pennant');
}

/** `undefined` when the current work is not recorded: no SDK, outside of requests, or a request that was not sampled. */
export function currentSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Runs work, across all awaits, with the span as its current one. */
export function runInSpan<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Runs work as a child of the current span, or without a span if there is none. */
export function traced<T>(start: SpanStart, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const parent = currentSpan();
  if (parent === undefined) return work(undefined);
  const span = startChild(parent, start);
  return runInSpan(span, async () => work(span))
    .catch((error: unknown) => {
      recordFailure(span, error);
      throw error;
    })
    .finally(() => span.end());
}

/** The caller ends it. */
export function startChild(parent: Span, { name, isCall = false, attributes = {} }: SpanStart): Span {
  const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return tracer().startSpan(name, { kind, attributes }, trace.setSpan(ROOT_CONTEXT, parent));
}

/**
 * Starts the span of an incoming request; the caller ends it.
 *
 * @param headers contain the caller's trace. `undefined`: the request starts a new trace.
 * @returns `undefined` for a request that is not sampled
 */
export function startRequestSpan(
  name: string,
  headers: Readonly<Record<string, unknown>> | undefined,
): Span | undefined {
  const parent = headers === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, headers);
  const span = tracer().startSpan(name, { kind: SpanKind.SERVER }, parent);
  return span.isRecording() ? span : undefined;
}

/** @param type one of few values @param message nothing internal */
export function failSpan(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}

/** "No such channel" is a result; bugs and upstreams that gave no usable response are failures. */
export function recordFailure(span: Span, error: unknown): void {
  const code = errorCodeOf(error);
  if (!(error instanceof AppError)) failSpan(span, error instanceof Error ? error.name : code);
  else if (isIndeterminate(error) || code === 'internal') failSpan(span, code, error.message);
  else span.setAttribute('pennant.outcome', code);
}

/** Whether an SDK is loaded: only an SDK gives a span a valid ID, sampled or not. */
export function isSdkLoaded(): boolean {
  return trace.isSpanContextValid(tracer().startSpan('start', {}, ROOT_CONTEXT).spanContext());
}
