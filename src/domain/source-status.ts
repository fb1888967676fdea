import type { FailureCause } from './errors.ts';

/** The name under which the image hosts are shown, like a source. */
export const IMAGE_SOURCE = 'image hosts';

/** An open breaker. */
export interface SourceProblem {
  /** The source, or the source and the calls whose breaker is open: `youtube feeds`. */
  readonly name: string;
  readonly cause: FailureCause;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

/** The version of YouTube's web client that calls to YouTube contain. */
export interface ClientVersionState {
  readonly version: string;
  readonly origin: 'built-in' | 'learned';
}
