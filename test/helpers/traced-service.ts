import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ServiceProcess, startService } from './service-process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';
import { startTraceReceiver, type TraceReceiver } from './trace-receiver.ts';

/** The otel.mjs of docs/tracing.md. */
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

export type TracedService = Awaited<ReturnType<typeof startTracedService>>;

/** The service as a process until the end of the test, with a collector for its traces. */
export async function startTracedService(env: Readonly<Record<string, string>> = {}) {
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
    /** Sends a request and reads the complete response. */
    async get(path: string, headers: Record<string, string> = {}) {
      const answer = await fetch(service.base + path, { headers });
      await answer.arrayBuffer();
      return answer;
    },
    /** Stops it, and returns everything that it has sent. */
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
