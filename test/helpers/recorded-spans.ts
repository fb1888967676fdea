import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach } from 'vitest';
import { runInSpan, startRequestSpan } from '../../src/lib/tracing.ts';

export interface RecordedSpan {
  readonly name: string;
  /** 0 internal, 1 server, 2 client: the numbers of the API. */
  readonly kind: number;
  readonly traceId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** `undefined`: no failure. */
  readonly failure: { readonly type: unknown; readonly message: string | undefined } | undefined;
  /** In the order of their start. */
  readonly children: readonly RecordedSpan[];
}

const FAILED = 2;

/** Loads OpenTelemetry's SDK for the tests of this file, and keeps all spans that end in memory. */
export function recordSpans() {
  const ended: ReadableSpan[] = [];
  const nothing = async () => undefined;
  const processor: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void ended.push(span),
    forceFlush: nothing,
    shutdown: nothing,
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
  afterEach(() => void ended.splice(0));
  afterAll(() => {
    for (const api of [context, propagation, trace]) api.disable();
  });

  function childrenOf(spanId: string | undefined): readonly RecordedSpan[] {
    return ended
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId)
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .map((span) => {
        const { 'error.type': type, ...attributes } = span.attributes;
        return {
          name: span.name,
          kind: span.kind,
          traceId: span.spanContext().traceId,
          attributes,
          failure: span.status.code === FAILED ? { type, message: span.status.message } : undefined,
          children: childrenOf(span.spanContext().spanId),
        };
      });
  }

  return {
    /**
     * The spans of requests that have ended: one for each to which a service has responded.
     *
     * @param parentSpanId of the client's trace that they are in, by default of none
     */
    ended: (parentSpanId?: string) => childrenOf(parentSpanId),
    startRequest() {
      const span = startRequestSpan('request', undefined);
      if (span === undefined) throw new Error('The SDK is not loaded.');
      return {
        /** Runs work with the request's span as the current one. */
        run: <T>(work: () => T) => runInSpan(span, work),
        /** Its child spans that have ended. */
        children: () => childrenOf(span.spanContext().spanId),
      };
    },
  };
}
