/** Why a source is paused. */
export interface PauseReason {
  readonly reason: string;
  /** For the operator: what the source does, after its label. */
  readonly operator: string;
  /** For clients: a sentence. */
  readonly client: (label: string) => string;
}

/** The length of the first pause of a series, and of the longest. */
interface PauseLengths {
  readonly first: number;
  readonly longest: number;
}

/** A reason whose pause ends with a trial. A trial that fails doubles the pause. */
export interface TrialReason extends PauseReason {
  readonly lengthsMs: PauseLengths;
}

const FAILING_MS: PauseLengths = { first: 10_000, longest: 300_000 };

export const REFUSED: TrialReason = {
  reason: 'refused',
  operator: 'refuses this address',
  client: (label) => `${label} refuses this service at the moment.`,
  lengthsMs: { first: 60_000, longest: 3_600_000 },
};

export const FAILING: TrialReason = {
  reason: 'failing',
  operator: 'fails every call',
  client: (label) => `Calls to ${label} are paused after failures.`,
  lengthsMs: FAILING_MS,
};

export const UNREACHABLE: TrialReason = {
  reason: 'unreachable',
  operator: 'cannot be reached',
  client: (label) => `${label} cannot be reached at the moment.`,
  lengthsMs: FAILING_MS,
};
