import type { HolderStats } from '../lib/holders.ts';
import {
  type Buckets,
  bucketsSince,
  LOOKUP_KINDS,
  quantile,
  REQUEST_OUTCOMES,
  type RequestOutcome,
  type Totals,
} from './totals.ts';

/** The changes between two samples of the counters. */
export interface Step {
  readonly atMs: number;
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latencySeconds: Quantiles;
  /** Pictures that waited for an encoder at the end of the step. */
  readonly queued: number;
}

export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** The sum of the last minutes. */
export interface Recent {
  readonly seconds: number;
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latencySeconds: Quantiles;
  readonly lookups: Totals['lookups'];
  readonly encodingSeconds: Quantiles;
  readonly waitingSeconds: Quantiles;
  readonly encoded: number;
  readonly sources: Totals['sources'];
}

export interface History {
  /** Oldest first. */
  steps(): readonly Step[];
  /** The changes from the oldest sample to `now`. */
  recent(now: Totals): Recent;
  stats(): HolderStats;
  stop(): void;
}

export interface HistoryOptions {
  readonly read: () => Totals;
  readonly queued: () => number;
}

const STEP_MS = 5_000;
const KEPT_STEPS = 180;

interface Sample {
  readonly totals: Totals;
  readonly queued: number;
}

/** Samples the counters every five seconds and keeps 15 minutes. */
export function startHistory({ read, queued }: HistoryOptions): History {
  const samples: Sample[] = [];

  function sample(): void {
    samples.push({ totals: read(), queued: queued() });
    if (samples.length > KEPT_STEPS + 1) samples.shift();
  }

  sample();
  const timer = setInterval(sample, STEP_MS);
  timer.unref();

  return {
    steps: () => samples.slice(1).map((later, at) => stepOf(samples[at] ?? later, later)),

    recent(now) {
      const earlier = samples[0]?.totals ?? now;
      return {
        seconds: Math.max(1, Math.round((now.atMs - earlier.atMs) / 1000)),
        requests: requestsSince(now, earlier),
        latencySeconds: quantiles(bucketsSince(now.latency, earlier.latency)),
        lookups: Object.fromEntries(
          LOOKUP_KINDS.map((kind) => [kind, difference(now.lookups[kind], earlier.lookups[kind])]),
        ) as unknown as Totals['lookups'],
        encodingSeconds: quantiles(bucketsSince(now.encoding, earlier.encoding)),
        waitingSeconds: quantiles(bucketsSince(now.waiting, earlier.waiting)),
        encoded: bucketsSince(now.encoding, earlier.encoding).counts.reduce((sum, count) => sum + count, 0),
        sources: Object.fromEntries(
          Object.entries(now.sources).map(([name, calls]) => [name, difference(calls, earlier.sources[name])]),
        ),
      };
    },

    stats: () => ({ entries: samples.length, maxEntries: KEPT_STEPS + 1 }),
    stop: () => clearInterval(timer),
  };
}

function stepOf(earlier: Sample, later: Sample): Step {
  return {
    atMs: later.totals.atMs,
    requests: requestsSince(later.totals, earlier.totals),
    latencySeconds: quantiles(bucketsSince(later.totals.latency, earlier.totals.latency)),
    queued: later.queued,
  };
}

function requestsSince(now: Totals, earlier: Totals): Record<RequestOutcome, number> {
  const counts = REQUEST_OUTCOMES.map((outcome) => [outcome, now.requests[outcome] - earlier.requests[outcome]]);
  return Object.fromEntries(counts) as Record<RequestOutcome, number>;
}

function difference(now: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>> = {}) {
  return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (earlier[name] ?? 0)]));
}

function quantiles(buckets: Buckets): Quantiles {
  return { p50: quantile(buckets, 0.5), p95: quantile(buckets, 0.95), p99: quantile(buckets, 0.99) };
}
