import { Gauge } from '@prometheus-io/client';
import { FAILURES } from '../domain/errors.ts';
import { type Condition, IMAGE_SOURCE } from '../domain/source-status.ts';
import type { BreakerState } from '../lib/breaker.ts';
import { createCallBudget } from '../lib/http/call-budget.ts';
import { createGate, type Gate } from '../lib/http/gate.ts';
import type { HttpClient } from '../lib/http/http-client.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import { printable } from '../lib/printable.ts';
import type { Runtime } from '../lib/runtime.ts';

/** What YouTube limits apart, and how sentences name it. */
const LABELS = {
  youtube: 'YouTube',
  'youtube names': 'YouTube’s lookup of names',
  'youtube searches': 'YouTube’s search',
  'youtube pages': 'YouTube’s website',
  'youtube feeds': 'YouTube’s feed server',
  'youtube-data-api': 'YouTube Data API',
  'youtube-data-api searches': 'YouTube Data API for searches',
  [IMAGE_SOURCE]: 'YouTube’s image host',
} as const;

type GateName = keyof typeof LABELS;

/** The gates of one source. They share its budget of calls. */
export type SourceGates = (name: GateName) => Gate;

interface GatesOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'logger' | 'metrics'>;
  readonly http: HttpClient;
  /** The budget of each source. */
  readonly callsPerSecond: number;
}

const CAUSES = new Set(Object.values(FAILURES).map(({ cause }) => cause));

/** The gates of all sources and of the image hosts. Each logs once when its breaker opens, and once when it closes. */
export function createGates({ runtime, http, callsPerSecond }: GatesOptions) {
  const { clock, logger, metrics } = runtime;
  const gates: { readonly source: string; readonly name: GateName; readonly gate: Gate }[] = [];

  function describe(name: GateName, { cause, detail, sinceMs, untilMs }: BreakerState): string {
    const next = untilMs > clock.now() ? `next call at ${formatTime(untilMs)}` : 'the next request tries again';
    return `${LABELS[name]} ${FAILURES[cause].predicate} since ${formatTime(sinceMs)} (${printable(detail)}); ${next}`;
  }

  function log(name: GateName, state: BreakerState | undefined): void {
    if (state === undefined) logger.info({ source: name }, `${name} is ready again`);
    else logger.warn({ source: name, cause: state.cause }, describe(name, state));
  }

  new Gauge({
    name: 'pennant_source_paused',
    help: '1 while the breaker of a source is open, and after that until a call succeeds, by cause: failing, unreachable, refused or quota.',
    labelNames: ['source', 'cause'],
    registers: [metrics],
    collect() {
      for (const { name: source, gate } of gates) {
        const open = gate.state()?.cause;
        for (const cause of CAUSES) this.set({ source, cause }, Number(open === cause));
      }
    },
  });
  new Gauge({
    name: 'pennant_source_paused_until_timestamp_seconds',
    help: 'When the next call to a source with an open breaker may be made, Unix time; 0: the breaker is closed.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      for (const { name: source, gate } of gates) this.set({ source }, (gate.state()?.untilMs ?? 0) / 1000);
    },
  });

  return {
    of(source: string): SourceGates {
      const budget = createCallBudget({ clock, callsPerSecond });
      const series = `pennant_calls_to_${source.replaceAll(/\W/g, '_')}`;
      addBoundGauges(metrics, series, `calls to ${source} that wait`, () => budget.waiting());
      return (name) => {
        const gate = createGate({ clock, http, budget, label: LABELS[name], onChange: (state) => log(name, state) });
        gates.push({ source, name, gate });
        return gate;
      };
    },
    /** The open breakers of a source or of the image hosts, for readiness and console. */
    conditionsOf(source: string): readonly Condition[] {
      return gates.flatMap(({ source: owner, name, gate }) => {
        const state = gate.state();
        if (state === undefined || owner !== source) return [];
        return [{ name, detail: describe(name, state), cause: state.cause }];
      });
    },
  };
}

/** The gates of a process that makes few calls: without a budget. */
export function createUnlimitedGates(http: HttpClient, clock: Runtime['clock']): SourceGates {
  const budget = { take: async () => undefined };
  return (name) => createGate({ clock, http, budget, label: LABELS[name] });
}

/** A time in UTC, to the second. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
