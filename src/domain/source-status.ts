/** What an operator should know of a source; each part is there for the sources that have it. */
export interface SourceStatus {
  readonly quotas?: readonly SourceQuota[];
  readonly canary?: CanaryState;
  readonly clientVersion?: ClientVersionState;
}

/** What became of a known channel that is loaded now and then to notice changes upstream. */
export interface CanaryState {
  /** As the operator names it. */
  readonly name: string;
  /** Milliseconds since 1970; `null`: not yet. */
  readonly checkedAtMs: number | null;
  /** Fields that it has had. */
  readonly known: readonly string[];
  /** Those that it has no more. */
  readonly gone: readonly string[];
  /** Why it could not be loaded the last time. */
  readonly failure: string | null;
}

/** A number of calls that the source may make a day. */
export interface SourceQuota {
  readonly name: string;
  readonly spent: number;
  readonly perDay: number;
}

/** The version of the upstream's own client that requests name. */
export interface ClientVersionState {
  readonly version: string;
  readonly origin: 'setting' | 'built-in' | 'learned';
  /** When the upstream last named its version, milliseconds since 1970; `null`: never. */
  readonly learnedAtMs: number | null;
  readonly isRefused: boolean;
  /** What is not in order, as a sentence. */
  readonly problem: string | null;
}
