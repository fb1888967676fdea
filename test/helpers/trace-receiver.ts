import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

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
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
  /** Of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

interface ReceivedExport {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A collector of traces on this machine: OTLP over HTTP, JSON or protobuf. */
export interface TraceReceiver {
  readonly origin: string;
  readonly exports: readonly ReceivedExport[];
  spans(): readonly ReceivedSpan[];
  /** Takes what comes, and answers only when the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

export async function startTraceReceiver(port = 0): Promise<TraceReceiver> {
  const exports: ReceivedExport[] = [];
  let isFree = Promise.resolve();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    exports.push({ path: request.url ?? '', headers: request.headers, body });
    await isFree;
    response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    spans: () => exports.flatMap(spansOf),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      isFree = promise;
      return resolve;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansOf({ headers, body }: ReceivedExport): ReceivedSpan[] {
  const isProtobuf = headers['content-type'] === 'application/x-protobuf';
  const content = isProtobuf ? readProtobufExport(body) : JSON.parse(body.toString('utf8'));
  const { resourceSpans } = content as { resourceSpans: SentResourceSpans[] };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: idOf(span.traceId),
        spanId: idOf(span.spanId),
        parentSpanId: idOf(span.parentSpanId),
        name: span.name,
        kind: span.kind,
        startedAt: BigInt(span.startTimeUnixNano),
        attributes: recordOf(span.attributes),
        status: span.status ?? {},
        resource: recordOf(resource.attributes),
      })),
    ),
  );
}

interface SentResourceSpans {
  readonly resource: { readonly attributes: SentAttribute[] };
  readonly scopeSpans: { readonly spans: SentSpan[] }[];
}

interface SentSpan {
  readonly traceId: SentId;
  readonly spanId: SentId;
  readonly parentSpanId?: SentId;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly attributes: SentAttribute[];
  readonly status?: ReceivedSpan['status'];
}

/** Hexadecimal digits in JSON, bytes in protobuf. */
type SentId = string | Buffer;

interface SentAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function idOf(id: SentId = ''): string {
  return typeof id === 'string' ? id : id.toString('hex');
}

function recordOf(attributes: readonly SentAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { intValue, ...other } }) => [
      key,
      intValue === undefined ? Object.values(other)[0] : Number(intValue),
    ]),
  );
}

/** The names of a trace's spans, each indented below its parent, in the order they began. */
export function drawTrace(spans: readonly ReceivedSpan[], parentSpanId = '', indent = ''): string[] {
  return spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .toSorted((a, b) => Number(a.startedAt - b.startedAt))
    .flatMap((span) => [indent + span.name, ...drawTrace(spans, span.spanId, `${indent}  `)]);
}

/** What a span is made of in opentelemetry/proto/trace/v1 and common/v1 (version 1.7). */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message TracesData { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    int32 kind = 6;
    fixed64 start_time_unix_nano = 7;
    repeated KeyValue attributes = 9;
    Status status = 15;
  }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
`);

/** Reads an export as an object of the same form as its JSON. The IDs are bytes. */
function readProtobufExport(body: Buffer): object {
  const traces = root.lookupType('TracesData');
  return traces.toObject(traces.decode(body), { arrays: true, longs: String });
}
