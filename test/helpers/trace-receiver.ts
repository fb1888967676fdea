import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readProtobufExport } from './otlp-protobuf.ts';

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
