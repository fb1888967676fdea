import type { SourceStatus } from '../domain/source-status.ts';
import type { HolderReading, Holders } from '../lib/holders.ts';
import type { History, Recent, Step } from './history.ts';
import { type CountedMetrics, type FieldTotals, readTotals } from './totals.ts';

/** Readers of the state of the components. */
export interface ServiceReaders {
  readonly version: string;
  readonly startedAtMs: number;
  readonly conditions: () => readonly Condition[];
  readonly sources: () => readonly SourceReading[];
  readonly encoder: () => {
    readonly queued: number;
    readonly running: number;
    readonly processes: number;
    readonly refused: number;
    readonly restarts: number;
  };
  readonly limiter: () => { readonly clients: number; readonly evicted: number };
  readonly refusedNetworks: () => readonly { readonly network: string; readonly refused: number }[];
  readonly settings: readonly SettingReading[];
}

interface SettingReading {
  readonly name: string;
  readonly value: string;
  readonly isDefault: boolean;
  /** Where the value comes from. */
  readonly origin: string;
}

export interface SourceReading {
  readonly name: string;
  /** `null`: no breaker. */
  readonly breaker: 'closed' | 'open' | 'half-open' | null;
  readonly status?: SourceStatus;
}

/** The content of the page, as one JSON document. */
export interface ConsoleState {
  readonly version: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly conditions: readonly Condition[];
  readonly steps: readonly Step[];
  readonly recent: Recent;
  readonly sources: readonly SourceReading[];
  /** Since start. */
  readonly fields: readonly FieldTotals[];
  readonly encoder: ReturnType<ServiceReaders['encoder']>;
  readonly stores: readonly HolderReading[];
  readonly limiter: ReturnType<ServiceReaders['limiter']>;
  readonly refusedNetworks: ReturnType<ServiceReaders['refusedNetworks']>;
  readonly settings: ServiceReaders['settings'];
}

export interface CountedParts {
  readonly metrics: CountedMetrics;
  readonly holders: Holders;
  readonly history: History;
}

export function readState(readers: ServiceReaders, { metrics, holders, history }: CountedParts): ConsoleState {
  const nowMs = Date.now();
  const totals = readTotals(metrics, nowMs);
  return {
    version: readers.version,
    startedAtMs: readers.startedAtMs,
    nowMs,
    conditions: readers.conditions(),
    steps: history.steps(),
    recent: history.recent(totals),
    sources: readers.sources(),
    fields: totals.fields,
    encoder: readers.encoder(),
    stores: holders.read(),
    limiter: readers.limiter(),
    refusedNetworks: readers.refusedNetworks(),
    settings: readers.settings,
  };
}

/** A problem because of which the service should get no traffic, or works with restrictions. */
export interface Condition {
  readonly name: string;
  readonly detail: string;
  /** True: the service cannot respond correctly. False: it works with restrictions. */
  readonly isBlocking: boolean;
}
