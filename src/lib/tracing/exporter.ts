import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../domain/tracing-settings.ts';

export interface ExporterOptions {
  readonly protocol: TracingSettings['protocol'];
  /** Told why the collector does not take spans, and `null` when it does again. */
  readonly onStateChange: (problem: string | null) => void;
}

/** OTLP over HTTP, as the environment says (endpoint, headers, time-out, compression, certificates). */
export async function createExporter({ protocol, onStateChange }: ExporterOptions): Promise<SpanExporter> {
  const exporter = await EXPORTERS[protocol]();
  let isWorking = true;

  function report(error: Error | undefined): void {
    const works = error === undefined;
    if (works === isWorking) return;
    isWorking = works;
    onStateChange(works ? null : reasonOf(error));
  }

  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        report(result.code === ExportResultCode.SUCCESS ? undefined : (result.error ?? new Error('no reason given')));
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

function reasonOf(error: Error): string {
  if (error.message !== '') return error.message;
  // Refused at each of a name's addresses, it has a code only.
  return 'code' in error ? String(error.code) : error.name;
}

const EXPORTERS = {
  'http/protobuf': async () => new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter(),
  'http/json': async () => new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter(),
};
