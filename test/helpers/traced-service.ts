import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startFakeUpstream } from './fake-upstream.ts';
import { type ServiceProcess, startService } from './process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** The otel.mjs of docs/tracing.md. */
export const SDK_FILE = join(import.meta.dirname, 'otel.mjs');

type Attributes = Readonly<Record<string, unknown>>;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client: the numbers of OTLP. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly startedAt: bigint;
  readonly attributes: Attributes;
  readonly status: { readonly code?: number; readonly message?: string };
  /** Attributes of the process that sent it. */
  readonly resource: Attributes;
}

type SentAttributes = readonly { readonly key: string; readonly value: Attributes }[];
type SentSpan = Omit<ReceivedSpan, 'startedAt' | 'attributes' | 'resource'> & {
  readonly startTimeUnixNano: string;
  readonly attributes: SentAttributes;
};

/** As much of opentelemetry/proto/trace/v1 (version 1.7) as is read here. */
interface SentExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SentAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** A collector of traces on this machine until the test ends: OTLP over HTTP. */
export async function startTraceReceiver() {
  const exports: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] = [];
  let isFree = Promise.resolve();
  const { origin, close } = await startFakeUpstream(async (request, response) => {
    exports.push({ path: request.url ?? '', headers: request.headers, body: await buffer(request) });
    await isFree;
    response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
  });
  onTestFinished(close);
  return {
    /** The environment of a service that sends its traces here. */
    settings: {
      NODE_OPTIONS: `--import=${SDK_FILE}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      OTEL_SERVICE_NAME: 'pennant',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    },
    exports,
    /** Those of the exports in JSON. */
    spans: () =>
      exports
        .filter(({ headers }) => headers['content-type'] === 'application/json')
        .flatMap(({ body }) => spansOf(JSON.parse(body.toString('utf8')) as SentExport)),
    /** From now on, exports are received but not answered. */
    hold() {
      isFree = new Promise(() => undefined);
    },
  };
}

function spansOf({ resourceSpans }: SentExport): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ startTimeUnixNano, attributes, ...span }) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        startedAt: BigInt(startTimeUnixNano),
        attributes: recordOf(attributes),
        resource: recordOf(resource.attributes),
      })),
  );
}

function recordOf(attributes: SentAttributes): Attributes {
  const values = attributes.map(({ key, value: { intValue, ...other } }) => {
    return [key, intValue === undefined ? Object.values(other)[0] : Number(intValue)];
  });
  return Object.fromEntries(values) as Attributes;
}

/** The names of a trace's spans, each indented below its parent, in the order they began. */
export function drawTrace(spans: readonly ReceivedSpan[], parentSpanId = '', indent = ''): string[] {
  return spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .toSorted((a, b) => Number(a.startedAt - b.startedAt))
    .flatMap((span) => [indent + span.name, ...drawTrace(spans, span.spanId, `${indent}  `)]);
}

export type TracedService = Awaited<ReturnType<typeof startTracedService>>;

/** The service as a process until the end of the test, with a collector for its traces. */
export async function startTracedService(env: Readonly<Record<string, string>> = {}) {
  const receiver = await startTraceReceiver();
  const protocol = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const service = await startUntilTestEnds({ ...receiver.settings, ...protocol, ...env });
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
export function logLines(service: ServiceProcess): Attributes[] {
  const texts = service.output().split('\n');
  return texts.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as Attributes);
}
