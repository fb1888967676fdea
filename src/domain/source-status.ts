/** What an operator should know of a source; each part is there for the sources that have it. */
export interface SourceStatus {
  readonly clientVersion?: ClientVersionState;
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
