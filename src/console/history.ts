import { type Buckets, growthSince, quantile, type Totals } from './totals.ts';

export type History = ReturnType<typeof startHistory>;

interface Sample {
  readonly atMs: number;
  readonly totals: Totals;
  /** Pictures that wait for an encoder. */
  readonly queued: number;
}

const STEP_MS = 5_000;
const KEPT_STEPS = 180;

/** Samples the counters every five seconds and keeps 15 minutes. */
export function startHistory(read: () => Sample) {
  const samples: Sample[] = [];

  function sample(): void {
    samples.push(read());
    if (samples.length > KEPT_STEPS + 1) samples.shift();
  }

  sample();
  const timer = setInterval(sample, STEP_MS);
  timer.unref();

  return {
    /** The changes between two samples each, oldest first. */
    steps() {
      return samples.slice(1).map((later, at) => {
        const { requests, latency } = growthSince(later.totals, samples[at]?.totals);
        return { atMs: later.atMs, requests, latencySeconds: quantiles(latency), queued: later.queued };
      });
    },

    /** The changes from the oldest sample to `now`. */
    recent({ atMs, totals }: Sample) {
      const { requests, latency, lookups, encoding, waiting, sources } = growthSince(totals, samples[0]?.totals);
      return {
        seconds: Math.max(1, Math.round((atMs - (samples[0]?.atMs ?? atMs)) / 1000)),
        requests,
        latencySeconds: quantiles(latency),
        lookups,
        encodingSeconds: quantiles(encoding),
        waitingSeconds: quantiles(waiting),
        encoded: encoding['+Inf'] ?? 0,
        sources,
      };
    },

    stats: () => ({ entries: samples.length, maxEntries: KEPT_STEPS + 1 }),
    stop: () => clearInterval(timer),
  };
}

function quantiles(buckets: Buckets) {
  return { p50: quantile(buckets, 0.5), p95: quantile(buckets, 0.95), p99: quantile(buckets, 0.99) };
}
