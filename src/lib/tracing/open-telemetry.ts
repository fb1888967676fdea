import {
  type Context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../domain/tracing-settings.ts';
import { systemClock } from '../clock.ts';
import { withinMs } from '../deadline.ts';
import { createExporter } from './exporter.ts';
import type { Span } from './span.ts';
import type { TraceParent, Tracing } from './tracing.ts';

export interface OpenTelemetryOptions {
  readonly settings: TracingSettings;
  readonly version: string;
  /** Told why spans cannot be delivered, and `null` when they can again; not for every export. */
  readonly onStateChange: (problem: string | null) => void;
  /** Told what the SDK has to say, for a debug log. */
  readonly onDiagnostic: (message: string) => void;
}

/** What is longer is cut: paths and `Host` are a stranger's. */
const MAX_ATTRIBUTE_LENGTH = 1_024;
/** The whole stop has 10 s, of which requests under way may take 8. */
const FLUSH_MS = 1_500;

/**
 * Traces by OpenTelemetry's SDK, sent over OTLP. The only way to this file is a dynamic import: without tracing none of
 * the SDK is loaded.
 */
export async function createOpenTelemetry(options: OpenTelemetryOptions): Promise<Tracing> {
  const { settings, version, onStateChange, onDiagnostic } = options;
  const log = (...parts: unknown[]) => onDiagnostic(parts.flatMap(describePart).join(' '));
  diag.setLogger({ error: log, warn: log, info: log, debug: log, verbose: log }, { logLevel: DiagLogLevel.WARN });
  setGlobalErrorHandler(log);

  const exporter = await createExporter({ protocol: settings.protocol, onStateChange });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'pennant', 'service.version': version }))
      .merge(
        detectResources({
          detectors: [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector],
        }),
      ),
    sampler: createSampler(settings),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: settings.maxQueueSize,
        maxExportBatchSize: settings.maxBatchSize,
        scheduledDelayMillis: settings.delayMs,
        exportTimeoutMillis: settings.exportTimeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer('pennant', version);
  const propagator = new W3CTraceContextPropagator();

  function contextOf(parent: TraceParent | undefined): Context {
    return parent === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, parent, HEADERS);
  }

  return {
    startRequest(name, parent) {
      const context = contextOf(parent);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, context);
      return isSampled(span) ? createSpan(tracer, span) : undefined;
    },

    async close() {
      const flushed = provider.shutdown().then(
        () => true,
        // The exporter has told why.
        () => true,
      );
      if ((await withinMs(systemClock, flushed, FLUSH_MS)) === undefined)
        onStateChange('the last ones were not taken in time');
    },
  };
}

/** Leaves out what an error carries and what is no text: a collector's answer may repeat our request and its credentials. */
function describePart(part: unknown): string[] {
  if (part instanceof Error) return [part.message];
  return typeof part === 'string' ? [part] : [];
}

const HEADERS = {
  get: (parent: TraceParent, name: string) => parent[name as keyof TraceParent],
  keys: () => ['traceparent', 'tracestate'],
};

function isSampled(span: OtelSpan): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

function createSampler({ sampler, samplerRatio }: TracingSettings): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(samplerRatio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(samplerRatio) });
  }
}

function createSpan(tracer: Tracer, span: OtelSpan): Span {
  return {
    traceId: span.spanContext().traceId,
    startChild({ name, isCall = false, attributes = {} }) {
      const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const child = tracer.startSpan(name, { kind, attributes }, trace.setSpan(ROOT_CONTEXT, span));
      return createSpan(tracer, child);
    },
    rename(name) {
      span.updateName(name);
    },
    setAttributes(attributes) {
      span.setAttributes(attributes);
    },
    fail(type, message) {
      span.setAttribute('error.type', type);
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
    },
    end() {
      span.end();
    },
  };
}
