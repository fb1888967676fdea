import { IMAGE_SOURCE, type SourceState, type SourceStatus } from '../domain/source-status.ts';
import type { RefusedClients, RefusedNetwork } from '../http/request/refused-clients.ts';
import type { RecentFailure, UnservedRequests } from '../http/response/unserved-requests.ts';
import type { HolderReading } from '../lib/holders.ts';
import type { Runtime } from '../lib/runtime.ts';
import {
  type FieldCounts,
  type HistoryStep,
  type RecentActivity,
  readFields,
  readTotals,
  STEP_SECONDS,
  startHistory,
} from './history.ts';

/** The components whose state is shown. */
interface ConsoleStateOptions {
  /** The version, with what distinguishes builds of it. */
  readonly version: string;
  readonly runtime: Pick<Runtime, 'metrics' | 'holders' | 'health'>;
  readonly upstreams: { states(): readonly SourceReading[] };
  readonly encoder: { stats(): EncoderStats };
  readonly limiter: { stats(): { readonly entries: number; readonly evicted: number } };
  readonly refusedClients: Pick<RefusedClients, 'list'>;
  readonly unservedRequests: Pick<UnservedRequests, 'recentFailures'>;
  readonly http: { isClosing(): boolean };
  readonly settings: readonly ShownSetting[];
}

export interface SourceReading extends SourceState {
  readonly name: string;
  readonly status?: SourceStatus | undefined;
}

interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly isDefault: boolean;
  /** Where the value comes from. */
  readonly origin: string;
}

type EncoderStats = Readonly<Record<'queued' | 'running' | 'processes' | 'refused' | 'restarts', number>>;

/** A reason why the service should get no traffic, or works with restrictions. */
export interface Condition {
  readonly name: string;
  readonly detail: string;
  /** True: the service cannot respond correctly. False: it works with restrictions. */
  readonly isBlocking: boolean;
}

const SHOWN_NETWORKS = 20;

/** The content of the page, as one JSON document. */
export interface ConsoleState {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly settings: readonly ShownSetting[];
  readonly conditions: readonly Condition[];
  readonly stepSeconds: number;
  readonly steps: readonly HistoryStep[];
  readonly recent: RecentActivity;
  readonly sources: readonly SourceReading[];
  readonly fields: readonly FieldCounts[];
  readonly encoder: EncoderStats;
  readonly stores: readonly HolderReading[];
  /** Clients that the rate limit tracks, and those that it evicted before their window ended. */
  readonly limiter: { readonly clients: number; readonly evicted: number };
  readonly refusedNetworks: readonly RefusedNetwork[];
  readonly failures: readonly RecentFailure[];
}

/** The state of the service for the console and for `/readyz`. */
export interface ConsoleStateReader {
  read(): Promise<ConsoleState>;
  readiness(): { readonly ready: boolean; readonly conditions: readonly Condition[]; readonly version: string };
  /** Ends the sampling of the history. */
  stop(): void;
}

export async function createConsoleStateReader(options: ConsoleStateOptions): Promise<ConsoleStateReader> {
  const { version, runtime, upstreams, encoder, limiter, refusedClients, unservedRequests, http, settings } = options;
  const { metrics, holders, health } = runtime;
  const startedAtMs = Date.now();
  const history = await startHistory(sample);

  async function sample() {
    return { atMs: Date.now(), totals: await readTotals(metrics), queued: encoder.stats().queued };
  }

  function readConditions(): Condition[] {
    const problems = [...health.problems(), ...upstreams.states().flatMap(sourceProblems)];
    const restrictions = problems.map(([name, detail]) => ({ name, detail, isBlocking: false }));
    const stopping = { name: 'stopping', detail: 'the service is being stopped', isBlocking: true };
    return http.isClosing() ? [...restrictions, stopping] : restrictions;
  }

  return {
    async read() {
      const now = await sample();
      const { entries: clients, evicted } = limiter.stats();
      return {
        version,
        startedAtMs,
        settings,
        nowMs: now.atMs,
        conditions: readConditions(),
        stepSeconds: STEP_SECONDS,
        steps: history.steps(),
        recent: history.recent(now),
        sources: upstreams.states(),
        fields: await readFields(metrics),
        encoder: encoder.stats(),
        stores: holders.read(),
        limiter: { clients, evicted },
        refusedNetworks: refusedClients.list(SHOWN_NETWORKS),
        failures: unservedRequests.recentFailures(),
      };
    },

    readiness() {
      const conditions = readConditions();
      return { ready: !conditions.some(({ isBlocking }) => isBlocking), conditions, version };
    },

    stop: history.stop,
  };
}

/** The problems of a source or of the image hosts. */
function sourceProblems({ name, problems }: SourceReading): (readonly [name: string, detail: string])[] {
  const prefix = name === IMAGE_SOURCE ? '' : 'source ';
  return problems.map((problem) => [`${prefix}${problem.name}`, problem.description]);
}
