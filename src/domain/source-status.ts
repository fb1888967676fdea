/** What an operator should know of a source; each part is there for the sources that have it. */
export interface SourceStatus {
  readonly quotas?: readonly SourceQuota[];
  readonly clientVersion?: ClientVersionState;
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
