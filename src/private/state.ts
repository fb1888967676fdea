import { type Condition, IMAGE_SOURCE } from '../domain/source-status.ts';
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
  /** Its open breakers. */
  readonly conditions: readonly Condition[];
}

/** A setting in force. */
export interface ShownSetting {
  readonly name: string;
  /** Never the text of a secret. */
  readonly value: string;
  /** `default`, `environment` or `.env`; for a secret in a file with the variable that names the file. */
  readonly origin: string;
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

export type ConsoleStateReader = ReturnType<typeof createConsoleStateReader>;

/** The state of the service for the console and for `/readyz`. */
export function createConsoleStateReader(options: ConsoleStateOptions) {
  const { version, runtime, upstreams, encoder, http, settings } = options;
  const { metrics, health } = runtime;
  const startedAtMs = Date.now();

  function readConditions(): Condition[] {
    const stopping = { name: 'stopping', detail: 'the service is being stopped' };
    return [
      ...health.conditions(),
      ...upstreams.states().flatMap(breakerConditions),
      ...(http.isClosing() ? [stopping] : []),
    ];
  }

  return {
    async read(): Promise<ConsoleState> {
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

/** The open breakers of a source or of the image hosts, as they are named in the list of all conditions. */
function breakerConditions({ name, conditions }: SourceReading): Condition[] {
  const prefix = name === IMAGE_SOURCE ? '' : 'source ';
  return conditions.map((condition) => ({ ...condition, name: `${prefix}${condition.name}` }));
}
