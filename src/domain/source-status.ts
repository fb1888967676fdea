import type { FailureCause } from './errors.ts';

/** The name under which the image hosts are shown, like a source. */
export const IMAGE_SOURCE = 'image hosts';

/** What one source, or the image hosts, can do at the moment. Readiness, console and log show the same. */
export interface SourceState {
  /** State of the main breaker: that of records, or of images. `problems` lists every open breaker. */
  readonly state: 'ready' | 'breaker open';
  readonly problems: readonly SourceProblem[];
}

interface SourceProblem {
  /** The source, or the source and the calls whose breaker is open: `youtube feeds`. */
  readonly name: string;
  /** Why its breaker is open: `refused`, `quota` or `failing`. */
  readonly reason: string;
  readonly cause: FailureCause;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

/** The version of YouTube's web client that calls to YouTube contain. */
export interface ClientVersionState {
  readonly version: string;
  readonly origin: 'built-in' | 'learned';
}
