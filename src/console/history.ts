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

/** What happened between two looks at the counters. */
export interface Step {
  readonly atMs: number;
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latencySeconds: Quantiles;
  /** Pictures waiting for an encoder at its end. */
  readonly queued: number;
}

export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** The last minutes together. */
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
  /** From the oldest look that is kept up to `now`. */
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

interface Look {
  readonly totals: Totals;
  readonly queued: number;
}

/** Looks at the counters every five seconds and remembers a quarter of an hour. */
export function startHistory({ read, queued }: HistoryOptions): History {
  const looks: Look[] = [];

  function look(): void {
    looks.push({ totals: read(), queued: queued() });
    if (looks.length > KEPT_STEPS + 1) looks.shift();
  }

  look();
  const timer = setInterval(look, STEP_MS);
  timer.unref();

  return {
    steps: () => looks.slice(1).map((later, at) => stepOf(looks[at] ?? later, later)),

    recent(now) {
      const earlier = looks[0]?.totals ?? now;
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

    stats: () => ({ entries: looks.length, maxEntries: KEPT_STEPS + 1 }),
    stop: () => clearInterval(timer),
  };
}

function stepOf(earlier: Look, later: Look): Step {
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
