import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { AppError } from '../domain/errors.ts';
import { type Span, traced } from '../lib/tracing/span.ts';

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
