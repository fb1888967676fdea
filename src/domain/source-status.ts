import type { FailureCause } from './errors.ts';

/** The name under which the image hosts are shown, like a source. */
export const IMAGE_SOURCE = 'image hosts';

/** The outcomes of lookups and downloads that are no failures. */
export const GOOD_OUTCOMES = new Set(['found', 'channel_not_found', 'image_not_found', 'inconclusive']);

/** Why the service works with restrictions, or is being stopped. */
export interface Condition {
  /** A component, or the source or calls whose breaker is open: `youtube feeds`. */
  readonly name: string;
  /** A sentence for the operator. */
  readonly detail: string;
  /** Of an open breaker. */
  readonly cause?: FailureCause;
}
