import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { AppError } from '../domain/errors.ts';
import { type Span, traced } from '../lib/tracing.ts';

/**
 * Runs a lookup as a span, with its outcome as attributes.
 *
 * @param name of the cache
 */
export function traceLookup<T extends { readonly outcome: CacheOutcome }>(
  name: string,
  lookUp: () => Promise<T>,
): Promise<T> {
  return traced({ name: `look up ${name}` }, async (span) => {
    try {
      const found = await lookUp();
      setOutcome(span, found.outcome);
      return found;
    } catch (error) {
      if (error instanceof AppError && error.outcome !== undefined) setOutcome(span, error.outcome);
      throw error;
    }
  });
}

function setOutcome(span: Span | undefined, { kind, isCollapsed, reason }: CacheOutcome): void {
  span?.setAttributes({
    'pennant.cache.outcome': kind,
    'pennant.cache.collapsed': isCollapsed,
    'pennant.cache.reason': reason,
  });
}
