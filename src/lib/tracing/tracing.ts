import type { Span } from './span.ts';

/** What a caller says of its own trace (W3C Trace Context). */
export interface TraceParent {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** Makes traces of requests and sends them away. */
export interface Tracing {
  /**
   * Starts a request's span.
   *
   * @param parent the caller's span; only of a caller that may decide what is sampled here
   * @returns `undefined` for a request that is not sampled
   */
  startRequest(name: string, parent: TraceParent | undefined): Span | undefined;
  /** Sends what is left, for a moment at most. */
  close(): Promise<void>;
}
