import type { SourceStatus } from '../domain/source-status.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { History } from './history.ts';
import { readFields, readTotals } from './totals.ts';

/** Readers of the state of the components. */
export interface ServiceReaders {
  readonly version: string;
  readonly startedAtMs: number;
  readonly runtime: Runtime;
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
  readonly settings: readonly {
    readonly name: string;
    readonly value: string;
    readonly isDefault: boolean;
    /** Where the value comes from. */
    readonly origin: string;
  }[];
}

export interface SourceReading {
  readonly name: string;
  /** `null`: no breaker. */
  readonly breaker: 'closed' | 'open' | 'half-open' | null;
  readonly status?: SourceStatus;
}

/** A problem because of which the service should get no traffic, or works with restrictions. */
export interface Condition {
  readonly name: string;
  readonly detail: string;
  /** True: the service cannot respond correctly. False: it works with restrictions. */
  readonly isBlocking: boolean;
}

/** The content of the page, as one JSON document. */
export type ConsoleState = ReturnType<typeof readState>;

export function readState(readers: ServiceReaders, history: History) {
  const { runtime, conditions, sources, encoder, limiter, refusedNetworks, ...constants } = readers;
  const now = readSample(readers);
  return {
    ...constants,
    nowMs: now.atMs,
    conditions: conditions(),
    steps: history.steps(),
    recent: history.recent(now),
    sources: sources(),
    fields: readFields(runtime.metrics),
    encoder: encoder(),
    stores: runtime.holders.read(),
    limiter: limiter(),
    refusedNetworks: refusedNetworks(),
  };
}

export function readSample({ runtime, encoder }: ServiceReaders) {
  return { atMs: Date.now(), totals: readTotals(runtime.metrics), queued: encoder().queued };
}
