import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, type CacheOutcome, errorCodeOf, isCouldNotTell } from '../../domain/errors.ts';

/** By OpenTelemetry's semantic conventions where they have a name; `pennant.…` otherwise. `undefined` is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** Of few different values: what differs goes into attributes. */
  readonly name: string;
  /** A call to another service. Default: work of this one. */
  readonly isCall?: boolean;
  readonly attributes?: SpanAttributes;
}

/** One timed piece of a request's work, in a request that is traced. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  startChild(start: SpanStart): Span;
  /** Once it is known what it is; of few different values too. */
  rename(name: string): void;
  setAttributes(attributes: SpanAttributes): void;
  /** Marks it as failed. @param type of few different values @param message nothing internal */
  fail(type: string, message?: string): void;
  end(): void;
}

const spans = new AsyncLocalStorage<Span>();

/** `undefined` where nothing is traced: without tracing, outside of requests, in a request that was not picked. */
export function currentSpan(): Span | undefined {
  return spans.getStore();
}

/** Runs work so that what it traces, across all awaits, belongs to the span. */
export function runInSpan<T>(span: Span, work: () => T): T {
  return spans.run(span, work);
}

/** Runs work as a child of the current span; just runs it where there is none. */
export function traced<T>(start: SpanStart, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const parent = spans.getStore();
  return parent === undefined ? work(undefined) : runAsChild(parent, start, work);
}

async function runAsChild<T>(parent: Span, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  const span = parent.startChild(start);
  try {
    return await spans.run(span, () => work(span));
  } catch (error) {
    noteFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** "No such channel" is an answer; only what could not be told, or a bug, is a failure. */
export function noteFailure(span: Span, error: unknown): void {
  const code = errorCodeOf(error);
  if (!(error instanceof AppError)) span.fail(error instanceof Error ? error.name : code);
  else if (isCouldNotTell(error) || code === 'internal') span.fail(code, error.message);
  else span.setAttributes({ 'pennant.outcome': code });
}

/** A look-up as a span of the current request's trace, with what came of it. */
export function tracedLookUp<T extends { readonly outcome: CacheOutcome }>(
  name: string,
  lookUp: () => Promise<T>,
): Promise<T> {
  return traced({ name: `look up ${name}` }, async (span) => {
    try {
      const found = await lookUp();
      noteOutcome(span, found.outcome);
      return found;
    } catch (error) {
      if (error instanceof AppError && error.outcome !== undefined) noteOutcome(span, error.outcome);
      throw error;
    }
  });
}

function noteOutcome(span: Span | undefined, { kind, isCollapsed, reason }: CacheOutcome): void {
  span?.setAttributes({
    'pennant.cache.outcome': kind,
    'pennant.cache.collapsed': isCollapsed,
    'pennant.cache.reason': reason,
  });
}
