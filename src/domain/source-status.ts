/** Details of a source for the operator. Each source has only the members that apply to it. */
export interface SourceStatus {
  readonly quotas?: readonly SourceQuota[];
  readonly clientVersion?: ClientVersionState;
}

/** The name under which the image hosts are shown, like a source. */
export const IMAGE_SOURCE = 'image hosts';

/** Why calls to a source are paused. */
export const PAUSE_REASONS = ['refused', 'quota', 'failing', 'unreachable'] as const;

/** What one source, or the image hosts, can do at the moment. Readiness, console and log show the same. */
export interface SourceState {
  /** `ready`: it is called for records or images, although some of its other calls may be paused. */
  readonly state: 'ready' | 'paused' | 'unreachable';
  readonly problems: readonly SourceProblem[];
}

interface SourceProblem {
  /** The source, or the source and what is paused of it: `youtube feeds`. */
  readonly name: string;
  /** One of `PAUSE_REASONS`. */
  readonly reason: string;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

/** A daily limit of the source's calls. */
export interface SourceQuota {
  readonly name: string;
  readonly spent: number;
  readonly perDay: number;
}

/** The version of YouTube's web client that calls to YouTube contain. */
export interface ClientVersionState {
  readonly version: string;
  readonly origin: 'built-in' | 'learned';
}
