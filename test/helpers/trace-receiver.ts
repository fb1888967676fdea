import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startFakeUpstream } from './fake-upstream.ts';

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
  /** Attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

interface ReceivedExport {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type TraceReceiver = Awaited<ReturnType<typeof startTraceReceiver>>;

/** A collector of traces on this machine: OTLP over HTTP. */
export async function startTraceReceiver() {
  const exports: ReceivedExport[] = [];
  let isFree = Promise.resolve();
  const { origin, close } = await startFakeUpstream(async (request, response) => {
    const body = await buffer(request);
    exports.push({ path: request.url ?? '', headers: request.headers, body });
    await isFree;
    response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
  });
  return {
    origin,
    exports,
    /** Those of the exports in JSON. */
    spans: () => exports.filter(({ headers }) => headers['content-type'] === 'application/json').flatMap(spansOf),
    /** From now on, exports are received but answered only when the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      isFree = promise;
      return resolve;
    },
    close,
  };
}

interface SentAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** As much of opentelemetry/proto/trace/v1 (version 1.7) as is read here. */
interface SentExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SentAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'startedAt' | 'attributes' | 'resource'> & {
        readonly startTimeUnixNano: string;
        readonly attributes: SentAttribute[];
      })[];
    }[];
  }[];
}

function spansOf({ body }: ReceivedExport): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString('utf8')) as SentExport;
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
