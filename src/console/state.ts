import { IMAGE_SOURCE, type SourceState, type SourceStatus } from '../domain/source-status.ts';
import type { RefusedClients, RefusedNetwork } from '../http/request/refused-clients.ts';
import type { RecentFailure, UnservedRequests } from '../http/response/unserved-requests.ts';
import type { HolderReading } from '../lib/holders.ts';
import type { Runtime } from '../lib/runtime.ts';
import {
  type FieldCounts,
  type History,
  type HistoryStep,
  type RecentActivity,
  readFields,
  readTotals,
  STEP_SECONDS,
} from './history.ts';

/** The components whose state is shown. */
export interface ShownComponents {
  /** The version, with what distinguishes builds of it. */
  readonly version: string;
  readonly runtime: Runtime;
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

export function readState(components: ShownComponents, startedAtMs: number, history: History): ConsoleState {
  const { version, runtime, upstreams, encoder, limiter, refusedClients, unservedRequests, settings } = components;
  const now = readSample(components);
  const { entries: clients, evicted } = limiter.stats();
  return {
    version,
    startedAtMs,
    settings,
    nowMs: now.atMs,
    conditions: readConditions(components),
    stepSeconds: STEP_SECONDS,
    steps: history.steps(),
    recent: history.recent(now),
    sources: upstreams.states(),
    fields: readFields(runtime.metrics),
    encoder: encoder.stats(),
    stores: runtime.holders.read(),
    limiter: { clients, evicted },
    refusedNetworks: refusedClients.list(SHOWN_NETWORKS),
    failures: unservedRequests.recentFailures(),
  };
}

export function readSample({ runtime, encoder }: ShownComponents) {
  return { atMs: Date.now(), totals: readTotals(runtime.metrics), queued: encoder.stats().queued };
}

export function readConditions({ runtime, upstreams, http }: ShownComponents): Condition[] {
  const problems = [...runtime.health.problems(), ...upstreams.states().flatMap(sourceProblems)];
  const restrictions = problems.map(([name, detail]) => ({ name, detail, isBlocking: false }));
  const stopping = { name: 'stopping', detail: 'the service is being stopped', isBlocking: true };
  return http.isClosing() ? [...restrictions, stopping] : restrictions;
}

/** The problems of a source or of the image hosts. */
function sourceProblems({ name, problems }: SourceReading): (readonly [name: string, detail: string])[] {
  const prefix = name === IMAGE_SOURCE ? '' : 'source ';
  return problems.map((problem) => [`${prefix}${problem.name}`, problem.description]);
}
