import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ServiceProcess, startService } from './service-process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from './trace-receiver.ts';

export interface TracedService {
  readonly service: ServiceProcess;
  readonly receiver: TraceReceiver;
  /** Asks it and reads the whole answer. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Stops it, and answers everything that it has sent until then. */
  stop(): Promise<readonly ReceivedSpan[]>;
}

/** What docs/tracing.md tells an operator to write into otel.mjs. */
export const SDK_FILE = join(import.meta.dirname, 'otel.mjs');

/** The environment of a service that sends its traces to the receiver. */
export function sdkSettings({ origin }: TraceReceiver): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${SDK_FILE}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_SERVICE_NAME: 'pennant',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
  };
}

/** The service as a process, until the test ends, with a collector that takes its traces. */
export async function startTracedService(env: Readonly<Record<string, string>> = {}): Promise<TracedService> {
  const receiver = await startTraceReceiver();
  const service = await startUntilTestEnds({
    ...sdkSettings(receiver),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...env,
  });
  onTestFinished(() => receiver.close());
  return {
    service,
    receiver,
    async get(path, headers = {}) {
      const answer = await fetch(service.base + path, { headers });
      await answer.arrayBuffer();
      return answer;
    },
    async stop() {
      service.child.kill('SIGTERM');
      await service.ended;
      return receiver.spans();
    },
  };
}

export async function startUntilTestEnds(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startService({ directory: await createTemporaryDirectory(), env });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  return service;
}

/** The lines of its log. */
export function logLines(service: ServiceProcess): Readonly<Record<string, unknown>>[] {
  const texts = service.output().split('\n');
  return texts.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as Record<string, unknown>);
}
