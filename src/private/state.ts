import type { FailureCause } from '../domain/errors.ts';
import { type ClientVersionState, IMAGE_SOURCE, type SourceProblem } from '../domain/source-status.ts';
import type { EncoderStats } from '../images/encoder/encoder.ts';
import type { Runtime } from '../lib/runtime.ts';
import { readTotals, type Totals } from './totals.ts';

/** The components whose state is shown. */
interface ConsoleStateOptions {
  readonly version: string;
  readonly runtime: Pick<Runtime, 'metrics' | 'health'>;
  readonly upstreams: { states(): readonly SourceReading[] };
  readonly encoder: { stats(): EncoderStats };
  readonly http: { isClosing(): boolean };
  readonly settings: readonly ShownSetting[];
}

/** What a source, or the image hosts, can do at the moment. */
export interface SourceReading {
  readonly name: string;
  readonly problems: readonly SourceProblem[];
  readonly clientVersion?: ClientVersionState | undefined;
}

/** A setting in force. */
export interface ShownSetting {
  readonly name: string;
  /** Never the text of a secret. */
  readonly value: string;
  /** `default`, `environment` or `.env`; for a secret in a file with the variable that names the file. */
  readonly origin: string;
}

/** A reason why the service works with restrictions, or is being stopped. */
export interface Condition {
  readonly name: string;
  readonly detail: string;
  /** Set for a source and for the image hosts. */
  readonly cause?: FailureCause;
}

/** The content of the page, as one JSON document. */
export interface ConsoleState {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly settings: readonly ShownSetting[];
  readonly conditions: readonly Condition[];
  readonly totals: Totals;
  readonly sources: readonly SourceReading[];
  readonly encoder: EncoderStats;
}

/** The state of the service for the console and for `/readyz`. */
export interface ConsoleStateReader {
  read(): Promise<ConsoleState>;
  readiness(): { readonly ready: boolean; readonly conditions: readonly Condition[]; readonly version: string };
}

export function createConsoleStateReader(options: ConsoleStateOptions): ConsoleStateReader {
  const { version, runtime, upstreams, encoder, http, settings } = options;
  const { metrics, health } = runtime;
  const startedAtMs = Date.now();

  function readConditions(): Condition[] {
    const stopping = { name: 'stopping', detail: 'the service is being stopped' };
    const restrictions = health.problems().map(([name, detail]) => ({ name, detail }));
    return [...restrictions, ...upstreams.states().flatMap(sourceProblems), ...(http.isClosing() ? [stopping] : [])];
  }

  return {
    async read() {
      return {
        version,
        startedAtMs,
        settings,
        nowMs: Date.now(),
        conditions: readConditions(),
        totals: await readTotals(metrics),
        sources: upstreams.states(),
        encoder: encoder.stats(),
      };
    },

    readiness() {
      return { ready: !http.isClosing(), conditions: readConditions(), version };
    },
  };
}

/** The problems of a source or of the image hosts. */
function sourceProblems({ name, problems }: SourceReading): Condition[] {
  const prefix = name === IMAGE_SOURCE ? '' : 'source ';
  return problems.map(({ name: problem, description: detail, cause }) => ({
    name: `${prefix}${problem}`,
    detail,
    cause,
  }));
}
